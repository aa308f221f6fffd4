import type { Point } from "./api/types";

export interface Range {
  name: string;
  seconds: number;
}

export const ranges: Range[] = [
  { name: "5 min", seconds: 300 },
  { name: "1 h", seconds: 3_600 },
  { name: "6 h", seconds: 21_600 },
  { name: "2 d", seconds: 172_800 },
  { name: "30 d", seconds: 2_592_000 },
];

export function range_of(name: string | null): Range {
  return ranges.find((range) => range.name === name) ?? ranges[0]!;
}

/** Points by column, which is how they are drawn. */
export interface Columns {
  times: number[];
  of: (name: Exclude<keyof Point, "at">) => (number | null)[];
}

/**
 * Where samples are missing for longer than three steps (nobody was watching the store) a point
 * without values is put in, so that the line is interrupted instead of drawn across.
 */
export function with_breaks(points: Point[], step_s: number): (Point | number)[] {
  const found: (Point | number)[] = [];
  let last = 0;
  for (const point of points) {
    const at = Date.parse(point.at) / 1000;
    if (last > 0 && at - last > 3 * step_s) found.push(last + step_s);
    found.push(point);
    last = at;
  }
  return found;
}

/**
 * Where values stand alone: a line has two ends, so these need a point of their own to be seen.
 */
export function alone(values: ArrayLike<number | null | undefined>): number[] {
  const is_there = (i: number) => values[i] !== null && values[i] !== undefined;
  return Array.from(values, (_, i) => i).filter(
    (i) => is_there(i) && !is_there(i - 1) && !is_there(i + 1),
  );
}

export function columns_of(points: Point[], step_s: number): Columns {
  const broken = with_breaks(points, step_s);
  return {
    times: broken.map((each) => (typeof each === "number" ? each : Date.parse(each.at) / 1000)),
    of: (name) => broken.map((each) => (typeof each === "number" ? null : each[name])),
  };
}

/** The kept points with those that came since, without what is older than the range. */
export function joined(kept: Point[], live: Point[], seconds: number, now: number): Point[] {
  const last = kept.at(-1)?.at ?? "";
  const begin = new Date(now - seconds * 1000).toISOString();
  return [...kept, ...live.filter((point) => point.at > last)].filter((point) => point.at >= begin);
}
