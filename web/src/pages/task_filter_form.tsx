import { filter_from, is_empty, no_filter, query_of, task_states } from "../filter";
import type { TaskFilter, TaskState } from "../filter";
import { address, go } from "../route";

function show(filter: TaskFilter): void {
  go(address("tasks", "", query_of(filter)));
}

interface FieldProps {
  name: Exclude<keyof TaskFilter, "states" | "no_states">;
  label: string;
  filter: TaskFilter;
  hint?: string;
}

function Field({ name, label, filter, hint }: FieldProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        name={name}
        defaultValue={filter[name]}
        placeholder={hint}
        spellcheck={false}
        autoComplete="off"
      />
    </label>
  );
}

/** What is typed, whether the button was pressed or not. */
function typed(form: HTMLFormElement, states: TaskState[]): TaskFilter {
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(form)) query.append(name, String(value));
  return { ...filter_from(query), states, no_states: [] };
}

/** Every part of a filter, and all of it in the address. */
export function TaskFilterForm({ filter }: { filter: TaskFilter }) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    show(typed(event.currentTarget as HTMLFormElement, filter.states));
  };
  const toggle = (form: HTMLFormElement, state: TaskState) => {
    const states = filter.states.includes(state)
      ? filter.states.filter((each) => each !== state)
      : [...filter.states, state];
    const in_order = task_states.filter((each) => states.includes(each));
    show(typed(form, in_order));
  };
  return (
    <form
      class="filter card"
      onSubmit={submit}
      key={query_of(filter).toString()}
      aria-label="Filter of tasks"
    >
      <div class="filter-head">
        <div class="chips" role="group" aria-label="State">
          {task_states.map((state) => (
            <button
              key={state}
              type="button"
              class="chip"
              aria-pressed={filter.states.includes(state)}
              onClick={(event) => toggle(event.currentTarget.form!, state)}
            >
              {state}
            </button>
          ))}
        </div>
        <div class="filter-buttons">
          <button class="primary">Filter</button>
          <button type="button" disabled={is_empty(filter)} onClick={() => show(no_filter)}>
            Clear
          </button>
        </div>
      </div>
      <div class="fields">
        <Field name="kind" label="Kind" filter={filter} />
        <Field name="queue" label="Queue" filter={filter} />
        <Field name="tag" label="Tag" filter={filter} />
        <label class="field">
          <span>Priority</span>
          <select name="priority" defaultValue={filter.priority} value={filter.priority}>
            {["", "1", "2", "3", "4", "5"].map((each) => (
              <option key={each} value={each}>
                {each || "any"}
              </option>
            ))}
          </select>
        </label>
        <Field name="since" label="Created since" filter={filter} hint="2h" />
        <Field name="error" label="Error contains" filter={filter} />
        <Field name="field" label="Payload field" filter={filter} hint="customer.id" />
        <Field name="value" label="Value" filter={filter} />
        <Field name="id" label="Id" filter={filter} />
      </div>
    </form>
  );
}
