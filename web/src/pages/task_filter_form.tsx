import { is_empty, no_filter, query_of, task_states } from "../filter";
import type { TaskFilter, TaskState } from "../filter";
import { address, go } from "../route";

function show(filter: TaskFilter): void {
  go(address("tasks", "", query_of(filter)));
}

interface FieldProps {
  name: keyof TaskFilter;
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
        defaultValue={String(filter[name])}
        placeholder={hint}
        spellcheck={false}
        autoComplete="off"
      />
    </label>
  );
}

/** Every part of a filter, and all of it in the address. */
export function TaskFilterForm({ filter }: { filter: TaskFilter }) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    const query = new URLSearchParams();
    for (const [name, value] of fields) query.append(name, String(value));
    const wanted: TaskFilter = { ...no_filter, states: filter.states };
    for (const name of [
      "id",
      "kind",
      "queue",
      "tag",
      "priority",
      "since",
      "error",
      "field",
      "value",
    ] as const)
      wanted[name] = query.get(name)?.trim() ?? "";
    show(wanted);
  };
  const toggle = (state: TaskState) => {
    const states = filter.states.includes(state)
      ? filter.states.filter((each) => each !== state)
      : [...filter.states, state];
    show({ ...filter, states: task_states.filter((each) => states.includes(each)) });
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
              onClick={() => toggle(state)}
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
