import { useMemo } from "preact/hooks";
import { in_store, post_text } from "../api/client";
import { never, use_resource } from "../api/resource";
import type { Task, TaskPage } from "../api/types";
import { fault_of, filter_from, is_empty, query_of, words_of } from "../filter";
import type { TaskFilter } from "../filter";
import { Act } from "../parts/act";
import type { Question } from "../parts/ask";
import { Entry } from "../parts/entry";
import type { EntryField } from "../parts/entry";
import { Loaded, Page, Section } from "../parts/page";
import { Pager } from "../parts/pager";
import { Table } from "../parts/table";
import type { Column } from "../parts/table";
import { Age, Id, State, Text } from "../parts/text";
import { new_id, task_text } from "../new_task";
import { address, go } from "../route";
import type { Route } from "../route";
import { change_all, count_path, search_path, try_all } from "../search";
import type { Outcome } from "../search";
import { plural } from "../text/format";
import { one_line } from "../text/exact_json";
import { TaskFilterForm } from "./task_filter_form";
import { TaskSheet } from "./task_sheet";

const page_size = 50;

export function Tasks({ route }: { route: Route }) {
  return route.id ? <TaskSheet id={route.id} /> : <TaskList route={route} />;
}

export const task_columns: Column<Task>[] = [
  { head: "Task", cell: (task) => <Id id={task.id} href={address("tasks", task.id)} /> },
  { head: "State", cell: (task) => <State state={task.state} /> },
  { head: "Kind", cell: (task) => <Text value={task.kind} /> },
  { head: "Queue", cell: (task) => <Text value={task.queue} /> },
  { head: "Pri", as: "number", cell: (task) => task.priority },
  { head: "Attempt", as: "number", cell: (task) => `${task.attempt}/${task.max_attempts}` },
  { head: "Created", as: "number", cell: (task) => <Age at={task.created_at} /> },
  { head: "Remark", as: "wide", cell: (task) => <Remark task={task} /> },
];

function Remark({ task }: { task: Task }) {
  if (task.error)
    return (
      <span class="cut bad-text">
        <Text value={task.error.slice(0, 300)} />
      </span>
    );
  if (task.state === "running" && (task.progress > 0 || task.progress_text))
    return (
      <span class="cut">
        {Math.round(task.progress * 100)} % <Text value={task.progress_text ?? ""} />
      </span>
    );
  if (task.cause)
    return (
      <span class="cut">
        <Text value={task.cause} />
      </span>
    );
  if (task.cancel_requested) return <span class="cut">asked to stop</span>;
  return (
    <span class="cut dim">
      <Text value={task.payload_preview?.slice(0, 120) ?? one_line(task.payload)} />
    </span>
  );
}

type TaskCount = { count: number; complete: boolean };

/** The server counts for a moment only. */
function counted_words(counted: TaskCount): string {
  return (counted.complete ? "" : "at least ") + plural(counted.count, "task");
}

async function bulk_question(
  verb: "retry" | "cancel",
  filter: TaskFilter,
  now: number,
  changed: () => void,
): Promise<Question> {
  const name = verb === "retry" ? "Retry" : "Cancel";
  const tried = await try_all(verb, filter, now);
  const number = tried && counted_words({ count: tried.changed, complete: tried.complete ?? true });
  return {
    title: `${name} ${number ?? "all that match"}?`,
    sentence:
      `${name} ${words_of(filter)}, where possible. ` +
      (verb === "retry"
        ? "Failed, held and cancelled tasks run again with fresh attempts; others stay as they are."
        : "Tasks that wait are cancelled at once, running ones are asked to stop."),
    verb: name,
    dangerous: verb === "cancel",
    run: async (course) => {
      const done = verb === "retry" ? "will run again" : "cancelled or asked to stop";
      const words = (so_far: Outcome) => `${plural(so_far.changed, "task")} ${done}`;
      const looked = (so_far: Outcome) => `looked into ${plural(so_far.looked_at, "task")}`;
      const sum = await change_all(verb, filter, now, (so_far) => {
        course.say(`${words(so_far)} so far; ${looked(so_far)}…`);
        return !course.stopped();
      });
      changed();
      return sum.complete ? `${words(sum)}.` : `Stopped: ${words(sum)}; ${looked(sum)}.`;
    },
  };
}

const entry: EntryField[] = [
  { name: "kind", label: "Kind", required: true },
  { name: "queue", label: "Queue", hint: "default" },
  { name: "priority", label: "Priority", initial: "3", choices: ["1", "2", "3", "4", "5"] },
  { name: "max_attempts", label: "Most attempts", hint: "3" },
  { name: "delay_s", label: "Delay in seconds", hint: "0" },
  { name: "unique_key", label: "Unique key" },
  { name: "payload", label: "Payload", initial: "{}", long: true },
];

async function enqueue(values: Record<string, string>): Promise<string> {
  const id = new_id(Date.now());
  const text = task_text({ ...values, id });
  const answer = await post_text<{ ids: string[] }>(in_store("/v1/tasks"), text);
  if (answer.ids[0] === id) return `Task ${id} is enqueued.`;
  return `Nothing was enqueued: task ${answer.ids[0]} has this unique key and is not finished.`;
}

function TaskList({ route }: { route: Route }) {
  const filter = useMemo(() => filter_from(route.query), [route.query.toString()]);
  const cursor = route.query.get("cursor") ?? "";
  // Relative times are taken from when the filter was opened, or every refresh would be another
  // question.
  const opened = useMemo(() => Date.now(), [filter]);
  const fault = fault_of(filter);
  // A look into payloads takes long, and one for a hidden field is noted each time: it is done
  // once.
  const once = filter.field !== "";
  const found = use_resource<TaskPage>(
    fault ? "" : search_path(filter, cursor, page_size, opened),
    once ? [] : ["tasks"],
    once ? never : undefined,
  );
  const counted = use_resource<TaskCount>(fault ? "" : count_path(filter, opened), ["tasks"]);
  const matching = counted.data ? counted_words(counted.data) : "";
  const changed = () => {
    found.reload();
    counted.reload();
  };
  const next = (to: string) => {
    const query = query_of(filter);
    if (to) query.set("cursor", to);
    go(address("tasks", "", query));
  };
  const question = (verb: "retry" | "cancel") =>
    bulk_question(verb, filter, opened, changed);
  const actions = (
    <>
      <Act question={() => question("retry")} disabled={fault !== ""}>
        Retry all that match
      </Act>
      <Act question={() => question("cancel")} disabled={fault !== ""}>
        Cancel all that match
      </Act>
    </>
  );
  return (
    <Page title="Tasks" actions={actions}>
      <Entry
        title="Enqueue a task"
        verb="Enqueue"
        fields={entry}
        send={async (values) => {
          const done = await enqueue(values);
          changed();
          return done;
        }}
      />
      <TaskFilterForm filter={filter} />
      {fault ? (
        <Fault sentence={fault} />
      ) : (
        <Section
          title={matching ? matching.charAt(0).toUpperCase() + matching.slice(1) : "Found"}
          aside={
            once ? (
              <button type="button" class="small" onClick={found.reload}>
                Search again
              </button>
            ) : (
              <span class="dim">newest first</span>
            )
          }
        >
          <Loaded from={found}>
            {(answer) => <Results filter={filter} page={answer} at_start={!cursor} go={next} />}
          </Loaded>
        </Section>
      )}
    </Page>
  );
}

function Fault({ sentence }: { sentence: string }) {
  return (
    <div class="failure" role="alert">
      <p>
        <Text value={sentence} />
      </p>
      <p>Nothing is shown before that is put right.</p>
    </div>
  );
}

interface ResultsProps {
  filter: TaskFilter;
  page: TaskPage;
  at_start: boolean;
  go: (cursor: string) => void;
}

function Results({ filter, page, at_start, go }: ResultsProps) {
  const looked = `Looked into ${plural(page.looked_at, "task")} so far; there may be more.`;
  const note = page.cut_off ? looked : "";
  return (
    <>
      <Table
        label="Tasks"
        columns={task_columns}
        rows={page.tasks}
        key_of={(task) => task.id}
        empty={emptiness(filter, page)}
      />
      <Pager at_start={at_start} next={page.next_cursor} go={go} note={note} />
    </>
  );
}

function emptiness(filter: TaskFilter, page: TaskPage) {
  if (page.cut_off)
    return { sentence: "None among those looked into so far. Go on with the next page." };
  if (is_empty(filter))
    return {
      sentence: "There are no tasks in this store yet.",
      command: `holdfast task add welcome_email '{"to": "ada@example.org"}'`,
    };
  return { sentence: `There are no ${words_of(filter)}.` };
}
