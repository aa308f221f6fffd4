import { useMemo } from "preact/hooks";
import { in_store } from "../api/client";
import type { Batch } from "../api/types";
import { Pacer, progress } from "../pace";
import { BatchBar } from "../parts/batch_bar";
import { Choice } from "../parts/choice";
import { Empty } from "../parts/empty";
import { Loaded, Page, Section } from "../parts/page";
import { use_pages } from "../parts/pages";
import type { Paged } from "../parts/pages";
import { Table } from "../parts/table";
import type { Column } from "../parts/table";
import { Age, Id, State, Text } from "../parts/text";
import { address, refine } from "../route";
import type { Route } from "../route";
import { compact, count, duration, plural } from "../text/format";
import { BatchSheet } from "./batch_sheet";

export function Batches({ route }: { route: Route }) {
  return route.id ? <BatchSheet route={route} /> : <BatchList route={route} />;
}

const columns = (pacer: Pacer): Column<Batch>[] => [
  { head: "Batch", cell: (batch) => <Id id={batch.id} href={address("batches", batch.id)} /> },
  { head: "Status", cell: (batch) => <State state={batch.status} /> },
  { head: "App", cell: (batch) => <Text value={batch.app} /> },
  { head: "Operation", cell: (batch) => <Text value={batch.op} /> },
  { head: "Rows", as: "number", cell: (batch) => count(progress(batch).all) },
  {
    head: "Failed",
    as: "number",
    cell: (batch) => (
      <span class={batch.rows.failed > 0 ? "bad-text" : "dim"}>{count(batch.rows.failed)}</span>
    ),
  },
  {
    head: "Per second",
    as: "number",
    cell: (batch) => {
      const { per_second } = pacer.pace(batch);
      return per_second === null ? <span class="dim">–</span> : compact(per_second);
    },
  },
  {
    head: "Left",
    as: "number",
    cell: (batch) => {
      const { left_ms } = pacer.pace(batch);
      return left_ms === null ? <span class="dim">–</span> : duration(left_ms);
    },
  },
  { head: "Submitted", as: "number", cell: (batch) => <Age at={batch.submitted_at} /> },
  { head: "Progress", as: "wide", cell: (batch) => <BatchBar batch={batch} /> },
];

/** Not every kind of store keeps batches. That is no failure, and no command helps. */
const Kept: typeof Loaded = (props) =>
  props.from.problem?.code === "unsupported" ? (
    <Empty sentence={props.from.problem.message} />
  ) : (
    <Loaded {...props} />
  );

const statuses = ["queued", "inprog", "success", "failed", "aborted", "wait"];

function BatchList({ route }: { route: Route }) {
  const status = route.query.get("status") ?? "";
  const pacer = useMemo(() => new Pacer(), []);
  const { found, pager, here } = use_pages<{ batches: Batch[] } & Paged>(
    in_store("/v1/batches", { status, limit: 200 }),
    ["tasks"],
  );
  useMemo(() => {
    for (const batch of found.data?.batches ?? []) pacer.look(batch, Date.now());
  }, [found.data]);
  return (
    <Page title="Batches">
      <Section
        title={
          found.data ? plural(found.data.batches.length, "batch", "batches") + here : "Batches"
        }
        aside={
          <Choice
            label="Status"
            all="all"
            options={statuses}
            chosen={status}
            choose={(value) => refine(route, { status: value })}
          />
        }
      >
        <Kept from={found}>
          {(answer) => (
            <Table
              label="Batches"
              columns={columns(pacer)}
              rows={answer.batches}
              key_of={(batch) => batch.id}
              empty={{
                sentence: status
                  ? `No batch is ${status}.`
                  : "There are no batches in this store yet.",
                command: "holdfast batch submit rows.jsonl --app shop --op prices",
              }}
            />
          )}
        </Kept>
        {pager}
      </Section>
    </Page>
  );
}
