import type { Report } from "../api/types";
import { Table } from "../parts/table";
import type { Column } from "../parts/table";
import { Age, Clock, Id, JsonBlock, State, Text } from "../parts/text";
import { address } from "../route";
import { count, duration, plural } from "../text/format";

type Orphan = Report["tasks"][number];

const columns: Column<Orphan>[] = [
  { head: "Task", cell: (task) => <Id id={task.id} href={address("tasks", task.id)} /> },
  {
    head: "Now",
    cell: (task) => (
      <State state={task.success ? task.now : "not taken"} tone={task.success ? "" : "bad"} />
    ),
  },
  { head: "Attempt", as: "number", cell: (task) => `${task.attempt}/${task.max_attempts}` },
  {
    head: "Worker",
    cell: (task) => (task.worker ? <Id id={task.worker} /> : <span class="dim">–</span>),
  },
  { head: "Why", as: "wide", cell: (task) => <Text value={task.error || task.reason} /> },
];

/** What came of the orphans: `3 run again, 1 held`. */
function decisions(report: Report): string {
  const { pending, failed, held, cancelled, not_taken } = report.orphans;
  const parts: [number, string][] = [
    [pending, "run again"],
    [failed, "failed"],
    [held, "held"],
    [cancelled, "cancelled"],
    [not_taken, "not taken back"],
  ];
  const said = parts
    .filter(([number]) => number > 0)
    .map(([number, word]) => `${count(number)} ${word}`);
  return said.length > 0 ? said.join(", ") : "no tasks";
}

export function ReportCard({ report }: { report: Report }) {
  return (
    <article class="card report">
      <header class="report-head">
        <State state={report.state} />
        <strong>{decisions(report)}</strong>
        <span class="dim">
          {plural(report.dead_workers.length, "dead worker")}, took {duration(report.duration_ms)},
          by <Text value={report.trigger} />, <Clock at={report.started_at} /> (
          <Age at={report.completed_at} />)
        </span>
        {report.stale_writes_refused > 0 && (
          <span class="warn-text">
            {plural(report.stale_writes_refused, "stale write")} refused
          </span>
        )}
      </header>
      {report.errors.map((error, i) => (
        <p key={i} class="bad-text">
          <Text value={error} />
        </p>
      ))}
      <ul class="dead">
        {report.dead_workers.map((worker) => (
          <li key={worker.id}>
            <Id id={worker.id} />{" "}
            <Text value={`process ${worker.pid} on ${worker.host}: ${worker.cause}`} />
            {worker.evidence && (
              <span class="dim">
                {" "}
                (<Text value={worker.evidence} />)
              </span>
            )}
          </li>
        ))}
      </ul>
      {report.tasks.length > 0 && (
        <details>
          <summary>{plural(report.tasks.length, "task")}</summary>
          <Table
            label="Tasks of this recovery"
            columns={columns}
            rows={report.tasks}
            key_of={(task) => task.id}
            empty={{ sentence: "" }}
          />
        </details>
      )}
      {report.start_up && (
        <details>
          <summary>What was found when the store was opened</summary>
          <JsonBlock value={report.start_up} label="What was found" />
        </details>
      )}
    </article>
  );
}
