import type { ComponentChildren } from "preact";
import { Empty } from "./empty";

export interface Column<Row> {
  head: string;
  cell: (row: Row) => ComponentChildren;
  /** Numbers stand to the right; `wide` takes the space that is left. */
  as?: "number" | "wide";
}

interface Props<Row> {
  label: string;
  columns: Column<Row>[];
  rows: Row[];
  key_of: (row: Row) => string;
  empty: { sentence: string; command?: string };
}

/** A table that scrolls by itself where the window is narrower, also by keyboard. */
export function Table<Row>({ label, columns, rows, key_of, empty }: Props<Row>) {
  if (rows.length === 0) return <Empty {...empty} />;
  // Without a column for it, the space that is left goes to an empty one: columns stay together.
  const rest = columns.some((column) => column.as === "wide") ? null : <td class="wide" />;
  return (
    <div class="table" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.head} scope="col" class={column.as}>
                {column.head || <span class="hidden">Actions</span>}
              </th>
            ))}
            {rest}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={key_of(row)}>
              {columns.map((column) => (
                <td key={column.head} class={column.as}>
                  {column.cell(row)}
                </td>
              ))}
              {rest}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
