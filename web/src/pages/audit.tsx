import { use_resource } from "../api/resource";
import type { AuditEntry } from "../api/types";
import { Empty } from "../parts/empty";
import { Loaded, Page, Section } from "../parts/page";
import { Pager } from "../parts/pager";
import { Table } from "../parts/table";
import type { Column } from "../parts/table";
import { Clock, Id, Text } from "../parts/text";
import { address, go } from "../route";
import type { Route } from "../route";
import { use_refusal } from "../session";

const page_size = 100;

interface Answer {
  findings: string[];
  entries: AuditEntry[];
  next_before: number | null;
}

const columns: Column<AuditEntry>[] = [
  { head: "No", as: "number", cell: (entry) => entry.n },
  { head: "When", cell: (entry) => <Clock at={entry.at} /> },
  { head: "Who", cell: (entry) => <Text value={entry.who} /> },
  { head: "From", cell: (entry) => <Text value={entry.from} /> },
  {
    head: "What",
    cell: (entry) => (
      <code>
        <Text value={entry.what} />
      </code>
    ),
  },
  {
    head: "Asked for",
    cell: (entry) => (
      <span class="cut">
        <Text value={entry.details} />
      </span>
    ),
  },
  { head: "Outcome", as: "wide", cell: (entry) => <Text value={entry.outcome} /> },
  { head: "Hash", cell: (entry) => <Id id={entry.hash} /> },
];

export function Audit({ route }: { route: Route }) {
  const refusal = use_refusal("admin");
  const before = route.query.get("before") ?? "";
  const path = refusal ? "" : `/v1/audit?limit=${page_size}${before ? `&before=${before}` : ""}`;
  const found = use_resource<Answer>(path, ["queues", "tasks"]);
  const next = (to: string) =>
    go(address("audit", "", new URLSearchParams(to ? { before: to } : {})));
  return (
    <Page title="Audit">
      {refusal === "" ? (
        <Section title="Who did what" aside={<span class="dim">newest first</span>}>
          <Loaded from={found}>
            {({ findings, entries, next_before }) => (
              <>
                {findings.map((finding) => (
                  <div class="failure" role="alert" key={finding}>
                    <Text value={finding} />
                  </div>
                ))}
                <Table
                  label="Audit log"
                  columns={columns}
                  rows={entries}
                  key_of={(entry) => String(entry.n)}
                  empty={{ sentence: "Nobody has changed anything through this server yet." }}
                />
                <Pager
                  at_start={!before}
                  go={next}
                  next={next_before === null ? null : String(next_before)}
                />
              </>
            )}
          </Loaded>
        </Section>
      ) : (
        <Empty sentence={`The audit log cannot be read here. ${refusal}.`} />
      )}
    </Page>
  );
}
