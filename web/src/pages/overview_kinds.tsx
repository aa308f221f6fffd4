import type { Kind } from "../api/types";
import { no_filter, query_of } from "../filter";
import { Table } from "../parts/table";
import type { Column } from "../parts/table";
import { Text } from "../parts/text";
import { address } from "../route";
import { count } from "../text/format";

/** Of the attempts that ended, how many did not go well. */
function failing({ completed, failed, retried }: Kind): string {
  const ended = completed + failed + retried;
  return ended === 0 ? "–" : `${((100 * (failed + retried)) / ended).toFixed(1)} %`;
}

const columns: Column<Kind>[] = [
  {
    head: "Kind",
    cell: ({ kind }) =>
      kind ? (
        <a href={address("tasks", "", query_of({ ...no_filter, kind }))}>
          <Text value={kind} />
        </a>
      ) : (
        <span class="dim">others</span>
      ),
  },
  { head: "Started", as: "number", cell: (kind) => count(kind.started) },
  { head: "Completed", as: "number", cell: (kind) => count(kind.completed) },
  { head: "Retried", as: "number", cell: (kind) => count(kind.retried) },
  { head: "Failed", as: "number", cell: (kind) => count(kind.failed) },
  { head: "Errors", as: "number", cell: failing },
];

export function KindTable({ kinds }: { kinds: Kind[] }) {
  return (
    <Table
      label="Kinds"
      columns={columns}
      rows={kinds}
      key_of={(kind) => kind.kind}
      empty={{ sentence: "No worker has told of any work since this server began to watch." }}
    />
  );
}
