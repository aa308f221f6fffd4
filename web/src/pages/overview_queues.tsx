import { in_store, post } from "../api/client";
import type { Queue } from "../api/types";
import { no_filter, query_of, task_states } from "../filter";
import { Act } from "../parts/act";
import type { Question } from "../parts/ask";
import { Table } from "../parts/table";
import type { Column } from "../parts/table";
import { Age, State, Text } from "../parts/text";
import { address } from "../route";
import { count } from "../text/format";

function pause_question(queue: Queue, changed: () => void): Question {
  const verb = queue.paused ? "resume" : "pause";
  return {
    title: `${queue.paused ? "Resume" : "Pause"} queue ${queue.queue}?`,
    sentence: queue.paused
      ? "Workers take tasks from it again."
      : "Nothing more is started from it. What is running goes on, and new tasks are accepted.",
    verb: queue.paused ? "Resume" : "Pause",
    run: async () => {
      await post(in_store(`/v1/queues/${encodeURIComponent(queue.queue)}/${verb}`));
      changed();
      return `Queue ${queue.queue} is ${queue.paused ? "running again" : "paused"}.`;
    },
  };
}

function columns(changed: () => void): Column<Queue>[] {
  return [
    {
      head: "Queue",
      cell: (queue) => (
        <a href={address("tasks", "", query_of({ ...no_filter, queue: queue.queue }))}>
          <Text value={queue.queue} />
        </a>
      ),
    },
    ...task_states.map(
      (state): Column<Queue> => ({
        head: state,
        as: "number",
        cell: (queue) =>
          queue.counts[state] === 0 ? (
            <span class="dim">0</span>
          ) : (
            <a
              class={`count-${state}`}
              href={address(
                "tasks",
                "",
                query_of({ ...no_filter, states: [state], queue: queue.queue }),
              )}
            >
              {count(queue.counts[state])}
            </a>
          ),
      }),
    ),
    { head: "oldest ready", cell: (queue) => <Age at={queue.oldest_pending} /> },
    {
      head: "",
      as: "wide",
      cell: (queue) => (
        <span class="row-end">
          {queue.paused && <State state="paused" />}
          <Act
            small
            question={() => pause_question(queue, changed)}
            label={`${queue.paused ? "Resume" : "Pause"} queue ${queue.queue}`}
          >
            {queue.paused ? "Resume" : "Pause"}
          </Act>
        </span>
      ),
    },
  ];
}

export function QueueTable({ queues, changed }: { queues: Queue[]; changed: () => void }) {
  return (
    <Table
      label="Queues"
      columns={columns(changed)}
      rows={queues}
      key_of={(queue) => queue.queue}
      empty={{
        sentence: "There are no tasks yet, so there are no queues.",
        command: `holdfast task add welcome_email '{"to": "ada@example.org"}'`,
      }}
    />
  );
}
