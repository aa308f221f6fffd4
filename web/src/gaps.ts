/** Ordinals from `first` to `last`, both in it. */
export interface Span {
  first: number;
  last: number;
}

/** What the API says is missing of a series, such as `3, 7-9`. */
export function parse_gaps(text: string): Span[] {
  const spans: Span[] = [];
  for (const part of text.split(",")) {
    const match = /^\s*(\d+)(?:-(\d+))?\s*$/.exec(part);
    if (!match) continue;
    const first = Number(match[1]);
    spans.push({ first, last: match[2] === undefined ? first : Number(match[2]) });
  }
  return spans;
}

/** A piece of the drawing: some ordinals, and how many of them are missing. */
export interface Cell extends Span {
  missing: number;
}

function overlap(one: Span, other: Span): number {
  const shared = Math.min(one.last, other.last) - Math.max(one.first, other.first) + 1;
  return Math.max(0, shared);
}

/**
 * A series as at most `most` cells of about the same size, in order. Where there are more ordinals
 * than cells a cell stands for several, so that one missing part of a million is still seen.
 */
export function draw_series(expected: number, gaps: Span[], first = 1, most = 120): Cell[] {
  const cells: Cell[] = [];
  const number = Math.min(expected, most);
  for (let i = 0; i < number; ++i) {
    const span = {
      first: first + Math.floor((i * expected) / number),
      last: first + Math.floor(((i + 1) * expected) / number) - 1,
    };
    const missing = gaps.reduce((sum, gap) => sum + overlap(span, gap), 0);
    cells.push({ ...span, missing });
  }
  return cells;
}

export function how_many(gaps: Span[]): number {
  return gaps.reduce((sum, gap) => sum + gap.last - gap.first + 1, 0);
}
