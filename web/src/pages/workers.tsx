import { in_store } from "../api/client";
import type { Worker } from "../api/types";
import { Choice } from "../parts/choice";
import { Loaded, Page, Section } from "../parts/page";
import { use_pages } from "../parts/pages";
import type { Paged } from "../parts/pages";
import { Table } from "../parts/table";
import type { Column } from "../parts/table";
import { Age, Id, State, Text } from "../parts/text";
import { address, refine } from "../route";
import type { Route } from "../route";
import { duration, plural } from "../text/format";
import { plain } from "../text/visible";

const shown_ids = 1;

function Holding({ worker }: { worker: Worker }) {
  const ids = worker.holding;
  if (ids.length === 0) return <span class="dim">nothing</span>;
  return (
    <span class="ids">
      {ids.slice(0, shown_ids).map((id) => (
        <Id key={id} id={id} href={address("tasks", id)} />
      ))}
      {ids.length > shown_ids && <span class="dim">and {ids.length - shown_ids} more</span>}
    </span>
  );
}

function Heartbeat({ worker }: { worker: Worker }) {
  if (worker.state !== "running") return <Age at={worker.last_heartbeat} />;
  const late = worker.heartbeat_age_ms > 2 * worker.heartbeat_interval_ms;
  return (
    <span
      class={late ? "warn-text" : ""}
      title={`every ${duration(worker.heartbeat_interval_ms)}; silent for ${duration(
        worker.stale_after_ms,
      )} it would be given up`}
    >
      <Age at={worker.last_heartbeat} />
    </span>
  );
}

const columns: Column<Worker>[] = [
  { head: "Worker", cell: (worker) => <Id id={worker.id} /> },
  {
    head: "State",
    cell: (worker) =>
      worker.draining ? (
        <State state="draining" tone="warn" />
      ) : (
        <State state={worker.state} tone={worker.state === "running" ? "good" : ""} />
      ),
  },
  {
    head: "Process",
    cell: (worker) => (
      <Text
        value={
          worker.enlisted_by
            ? `remote, by ${worker.enlisted_by}`
            : `${worker.pid} on ${worker.host}`
        }
      />
    ),
  },
  {
    head: "Kinds",
    cell: (worker) => (
      <span class="cut narrow" title={plain(worker.kinds.join(", "))}>
        <Text value={worker.kinds.join(", ")} />
      </span>
    ),
  },
  {
    head: "Queues",
    cell: (worker) =>
      worker.queues.length > 0 ? <Text value={worker.queues.join(", ")} /> : "all",
  },
  {
    head: "In use",
    as: "number",
    cell: (worker) =>
      worker.state === "running" ? (
        <span title="tasks that it holds, of as many as it has threads">
          {worker.holding.length}/{worker.concurrency}
        </span>
      ) : (
        <span class="dim">–</span>
      ),
  },
  { head: "Heartbeat", as: "number", cell: (worker) => <Heartbeat worker={worker} /> },
  { head: "Started", as: "number", cell: (worker) => <Age at={worker.started_at} /> },
  { head: "Holds", cell: (worker) => <Holding worker={worker} /> },
  {
    head: "How we know",
    as: "wide",
    cell: (worker) => (
      <Text value={[worker.proof, worker.cause, worker.evidence].filter(Boolean).join("; ")} />
    ),
  },
];

export function Workers({ route }: { route: Route }) {
  const state = route.query.get("state") ?? "";
  const { found, pager, here } = use_pages<{ workers: Worker[] } & Paged>(
    in_store("/v1/workers", { state }),
    ["workers", "tasks"],
  );
  return (
    <Page title="Workers">
      <Section
        title={found.data ? plural(found.data.workers.length, "worker") + here : "Workers"}
        aside={
          <Choice
            label="State"
            all="all"
            options={["running", "stopped", "dead"]}
            chosen={state}
            choose={(value) => refine(route, { state: value })}
          />
        }
      >
        <Loaded from={found}>
          {(answer) => (
            <Table
              label="Workers"
              columns={columns}
              rows={answer.workers}
              key_of={(worker) => worker.id}
              empty={{
                sentence: state
                  ? `No worker is ${state}.`
                  : "No worker has ever served this store, so nothing runs.",
                command: "holdfast worker run --kind welcome_email --exec ./send.sh",
              }}
            />
          )}
        </Loaded>
        {pager}
      </Section>
    </Page>
  );
}
