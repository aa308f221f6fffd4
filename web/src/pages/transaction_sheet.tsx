import { in_store, post } from "../api/client";
import { use_resource } from "../api/resource";
import type { Changed, Transaction, TransactionWithHistory } from "../api/types";
import { how_many, parse_gaps } from "../gaps";
import { Act } from "../parts/act";
import type { Question } from "../parts/ask";
import { Facts, Loaded, Page, Section } from "../parts/page";
import { use_pages } from "../parts/pages";
import type { Paged } from "../parts/pages";
import { SeriesDrawing } from "../parts/series";
import { Table } from "../parts/table";
import { Age, Clock, Id, JsonBlock, State, Text } from "../parts/text";
import { address } from "../route";
import { count, plural } from "../text/format";
import { plain } from "../text/visible";

type Found = TransactionWithHistory;

function question_of(verb: "cancel" | "retry", found: Found, changed: () => void): Question {
  return {
    title: verb === "cancel" ? "Cancel this transaction?" : "Run this transaction again?",
    sentence:
      verb === "cancel"
        ? "It stops where it is. What it has recorded stays."
        : "It goes on in the state that it was in, and keeps what it has recorded.",
    verb: verb === "cancel" ? "Cancel" : "Retry",
    dangerous: verb === "cancel",
    run: async () => {
      const path = `/v1/transactions/${encodeURIComponent(found.id)}/${verb}`;
      const { changed: number } = await post<Changed>(in_store(path), {});
      changed();
      if (number === 0) return "Nothing was changed: its state does not allow this any more.";
      return verb === "cancel" ? "It is cancelled, or was asked to stop." : "It runs again.";
    },
  };
}

/** What went wrong in its state, counted or not; empty if nothing did. */
export function trouble_of(transaction: Transaction): string {
  if (transaction.failures > 0)
    return `${plural(transaction.failures, "failure")}, last: ${transaction.error}`;
  return transaction.error && !transaction.finished_at ? `last trouble: ${transaction.error}` : "";
}

export function TransactionSheet({ id }: { id: string }) {
  const found = use_resource<Found>(in_store(`/v1/transactions/${encodeURIComponent(id)}`), [
    "tasks",
  ]);
  const now = found.data;
  const actions =
    now &&
    (["failed", "held", "cancelled"].includes(now.task_state) ? (
      <Act question={() => question_of("retry", now, found.reload)}>Retry</Act>
    ) : (
      now.task_state !== "completed" && (
        <Act question={() => question_of("cancel", now, found.reload)}>Cancel</Act>
      )
    ));
  return (
    <Page title={`Transaction ${plain(id)}`} actions={actions}>
      <p class="crumbs">
        <a href={address("transactions")}>All transactions</a>
      </p>
      <Loaded from={found}>{(answer) => <Sheet found={answer} />}</Loaded>
    </Page>
  );
}

function Sheet({ found }: { found: Found }) {
  return (
    <>
      {found.result && <Series result={found.result} />}
      <div class="columns">
        <Section title="What it is">
          <Facts
            facts={[
              ["Machine", <Text value={found.machine} />],
              [
                "State",
                <strong>
                  <Text value={found.state || "not begun"} />
                </strong>,
              ],
              ["Status", <State state={found.task_state} />],
              ["Reason", <Text value={found.reason || "–"} />],
              [
                "Created",
                <>
                  <Clock at={found.created_at} /> (<Age at={found.created_at} />)
                </>,
              ],
              ["Last progress", <Age at={found.progressed_at} />],
              ["Finished", <Clock at={found.finished_at} />],
              ["Owner", found.worker ? <Id id={found.worker} whole /> : "–"],
              ["Token", found.token],
              ["Failures", <Text value={trouble_of(found) || "none"} />],
              ["Unsent messages", count(found.unsent)],
            ]}
          />
        </Section>
        <Section title="Timeline">
          <Timeline timeline={found.timeline} />
        </Section>
      </div>
      <div class="columns">
        <Section title="Data">
          <JsonBlock value={found.data} label="Data" />
        </Section>
        <Section title="Input">
          <JsonBlock value={found.input} label="Input" />
        </Section>
      </div>
      <Ledger id={found.id} />
    </>
  );
}

function Series({ result }: { result: NonNullable<Found["result"]> }) {
  return (
    <Section
      title="Series"
      aside={<span class="dim">{plural(result.resends, "time")} asked again</span>}
    >
      {!result.announced && (
        <p class="note">No header yet: how many parts there will be is not known.</p>
      )}
      {result.series.map((series) => (
        <div class="series-line" key={series.series}>
          <strong>
            <Text value={series.series} />
          </strong>
          <span class="number">
            {count(series.received)} of {series.expected === null ? "?" : count(series.expected)}
          </span>
          {series.expected !== null && (
            <SeriesDrawing
              name={plain(series.series)}
              expected={series.expected}
              missing={series.missing}
            />
          )}
          <span class={series.missing ? "warn-text" : "dim"}>
            {series.missing
              ? `missing ${count(how_many(parse_gaps(series.missing)))}: ${series.missing}`
              : "complete"}
            {series.surplus > 0 && `, ${count(series.surplus)} that were not announced`}
          </span>
        </div>
      ))}
    </Section>
  );
}

/** What happened, in the words of the log without their beginning. */
function Timeline({ timeline }: { timeline: Found["timeline"] }) {
  return (
    <ol class="timeline" tabIndex={0} aria-label="Timeline">
      {timeline.map((entry, i) => (
        <li key={i} class="step">
          <span class="when">
            <Clock at={entry.at} />
          </span>
          <div>
            <strong>
              <Text value={entry.event.replace(/^transaction_/, "").replaceAll("_", " ")} />
            </strong>
            <p class="reason">
              <Text value={entry.text} />
            </p>
          </div>
        </li>
      ))}
    </ol>
  );
}

const most_entries = 200;

function Ledger({ id }: { id: string }) {
  const { found, pager, here } = use_pages<{ ledger: Found["ledger"] } & Paged>(
    in_store(`/v1/transactions/${encodeURIComponent(id)}/ledger`, { limit: most_entries }),
    ["tasks"],
  );
  const entries = found.data && plural(found.data.ledger.length, "entry", "entries") + here;
  return (
    <Section title="Ledger" aside={<span class="dim">{entries}</span>}>
      <Loaded from={found}>
        {(answer) => (
          <Table
            label="Ledger"
            rows={answer.ledger}
            key_of={(entry) => `${entry.series}/${entry.ordinal}`}
            columns={[
              { head: "Series", cell: (entry) => <Text value={entry.series} /> },
              { head: "Ordinal", as: "number", cell: (entry) => count(entry.ordinal) },
              {
                head: "Value",
                as: "wide",
                cell: (entry) => (
                  <span class="cut">
                    <Text value={entry.value.slice(0, 500)} />
                  </span>
                ),
              },
            ]}
            empty={{ sentence: "Nothing is recorded yet." }}
          />
        )}
      </Loaded>
      {pager}
    </Section>
  );
}
