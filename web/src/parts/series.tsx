import { draw_series, how_many, parse_gaps } from "../gaps";
import type { Cell } from "../gaps";
import { count } from "../text/format";

function title_of({ first, last, missing }: Cell): string {
  const where = first === last ? `part ${first}` : `parts ${first} to ${last}`;
  if (missing === 0) return `${where}: there`;
  return last > first ? `${where}: ${missing} missing` : `${where}: missing`;
}

const widest = 16; // pixels

/** The parts of a series side by side, with the missing ones as gaps. */
export function SeriesDrawing({
  name,
  expected,
  missing,
}: {
  name: string;
  expected: number;
  missing: string;
}) {
  const gaps = parse_gaps(missing);
  const cells = draw_series(expected, gaps);
  const label =
    how_many(gaps) === 0
      ? `${name}: all ${count(expected)} parts are there`
      : `${name}: ${count(how_many(gaps))} of ${count(expected)} parts are missing: ${missing}`;
  return (
    <svg
      class="series"
      width={cells.length * widest}
      viewBox={`0 0 ${Math.max(1, cells.length) * 8} 16`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {cells.map((cell, i) => (
        <rect
          key={cell.first}
          x={i * 8 + 0.5}
          y={cell.missing > 0 ? 1 : 0}
          width="7"
          height={cell.missing > 0 ? 14 : 16}
          class={cell.missing > 0 ? "gap" : "there"}
        >
          <title>{title_of(cell)}</title>
        </rect>
      ))}
    </svg>
  );
}
