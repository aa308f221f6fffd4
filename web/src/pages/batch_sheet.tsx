import { useMemo } from "preact/hooks";
import { in_store, post } from "../api/client";
import { use_resource } from "../api/resource";
import type { Batch, BatchRow } from "../api/types";
import { Pacer, progress } from "../pace";
import { Act } from "../parts/act";
import type { Question } from "../parts/ask";
import { BatchBar } from "../parts/batch_bar";
import { Choice } from "../parts/choice";
import { Facts, Loaded, Page, Section } from "../parts/page";
import { Pager } from "../parts/pager";
import { Table } from "../parts/table";
import type { Column } from "../parts/table";
import { Age, Clock, JsonBlock, State, Text } from "../parts/text";
import { address, go, refine } from "../route";
import type { Route } from "../route";
import { compact, count, duration } from "../text/format";
import { one_line } from "../text/exact_json";

function question_of(verb: "abort" | "release", batch: Batch, changed: () => void): Question {
  return {
    title: verb === "abort" ? "Abort this batch?" : "Let this batch run?",
    sentence:
      verb === "abort"
        ? "Rows that have not been processed will not be. What is done stays."
        : "Its rows are processed as soon as workers are free.",
    verb: verb === "abort" ? "Abort" : "Release",
    dangerous: verb === "abort",
    run: async () => {
      await post(in_store(`/v1/batches/${encodeURIComponent(batch.id)}/${verb}`));
      changed();
      return verb === "abort" ? "The batch is aborted." : "The batch runs.";
    },
  };
}

function Json({ value }: { value: unknown }) {
  if (value === null) return <span class="dim">–</span>;
  return (
    <span class="cut">
      <Text value={one_line(value)} />
    </span>
  );
}

const columns: Column<BatchRow>[] = [
  { head: "Line", as: "number", cell: (row) => count(row.line) },
  { head: "Status", cell: (row) => <State state={row.status} /> },
  { head: "Attempt", as: "number", cell: (row) => row.attempt },
  { head: "Done", as: "number", cell: (row) => <Age at={row.done_at} /> },
  { head: "Input", cell: (row) => <Json value={row.input} /> },
  { head: "Result", cell: (row) => <Json value={row.result} /> },
  { head: "Messages", as: "wide", cell: (row) => <Json value={row.messages} /> },
];

export function BatchSheet({ route }: { route: Route }) {
  const path = `/v1/batches/${encodeURIComponent(route.id)}`;
  const batch = use_resource<Batch>(in_store(path), ["tasks"]);
  const found = batch.data;
  const actions = found && (
    <>
      {found.status === "wait" && (
        <Act question={() => question_of("release", found, batch.reload)}>Release</Act>
      )}
      {["wait", "queued", "inprog"].includes(found.status) && (
        <Act question={() => question_of("abort", found, batch.reload)}>Abort</Act>
      )}
    </>
  );
  return (
    <Page title={`Batch ${route.id}`} actions={actions}>
      <p class="crumbs">
        <a href={address("batches")}>All batches</a>
      </p>
      <Loaded from={batch}>{(answer) => <BatchFacts batch={answer} />}</Loaded>
      <Rows route={route} path={path} />
    </Page>
  );
}

function BatchFacts({ batch }: { batch: Batch }) {
  const pacer = useMemo(() => new Pacer(), []);
  useMemo(() => pacer.look(batch, Date.now()), [batch]);
  const { all, done } = progress(batch);
  const { per_second, left_ms } = pacer.pace(batch);
  const files = Object.entries(batch.output_files);
  return (
    <div class="columns">
      <Section title="Progress">
        <p class="lead">
          <State state={batch.status} /> <BatchBar batch={batch} />
        </p>
        <Facts
          facts={[
            ["Rows done", `${count(done)} of ${count(all)}, ${count(batch.rows.failed)} failed`],
            ["Per second", per_second === null ? "–" : compact(per_second)],
            ["Left", left_ms === null ? "–" : `about ${duration(left_ms)}`],
            ["Application", <Text value={batch.app} />],
            ["Operation", <Text value={batch.op} />],
            [
              "Submitted",
              <>
                <Clock at={batch.submitted_at} /> (<Age at={batch.submitted_at} />)
              </>,
            ],
            ["Finished", <Clock at={batch.done_at} />],
            ["Input", <Text value={batch.input_file || "–"} />],
            ...files.map(([name, key]): [string, preact.ComponentChildren] => [
              `Output ${name}`,
              <a
                href={in_store(`/v1/batches/${encodeURIComponent(batch.id)}/output`, { key })}
                download
              >
                <Text value={key} />
              </a>,
            ]),
          ]}
        />
      </Section>
      <Section title="Context">
        <JsonBlock value={batch.context} label="Context" />
      </Section>
    </div>
  );
}

function Rows({ route, path }: { route: Route; path: string }) {
  const status = route.query.get("status") ?? "";
  const cursor = route.query.get("cursor") ?? "";
  const rows = use_resource<{ rows: BatchRow[]; next_cursor: string | null }>(
    in_store(`${path}/rows`, { status, cursor, limit: 50 }),
    ["tasks"],
  );
  const next = (to: string) => {
    const query = new URLSearchParams(status ? { status } : {});
    if (to) query.set("cursor", to);
    go(address("batches", route.id, query));
  };
  return (
    <Section
      title="Rows"
      aside={
        <Choice
          label="Status"
          all="all"
          options={["queued", "inprog", "success", "failed", "aborted"]}
          chosen={status}
          choose={(value) => refine(route, { status: value, cursor: "" })}
        />
      }
    >
      <Loaded from={rows}>
        {(answer) => (
          <>
            <Table
              label="Rows"
              columns={columns}
              rows={answer.rows}
              key_of={(row) => String(row.line)}
              empty={{ sentence: status ? `No row is ${status}.` : "This batch has no rows." }}
            />
            <Pager at_start={!cursor} next={answer.next_cursor} go={next} />
          </>
        )}
      </Loaded>
    </Section>
  );
}
