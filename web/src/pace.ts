import type { Batch } from "./api/types";

export interface Pace {
  all: number;
  done: number;
  per_second: number;
  /** Null where it is over, or nothing is known yet. */
  left_ms: number | null;
}

/** How quickly a batch gets on, on average since it was submitted. */
export function pace(batch: Pick<Batch, "rows" | "submitted_at" | "done_at">, now: number): Pace {
  const { queued, inprog, success, failed, aborted } = batch.rows;
  const open = queued + inprog;
  const done = success + failed + aborted;
  const end = batch.done_at ? Date.parse(batch.done_at) : now;
  const took = end - Date.parse(batch.submitted_at);
  const per_second = took > 0 ? (done * 1000) / took : 0;
  const left_ms = open > 0 && per_second > 0 ? (open * 1000) / per_second : null;
  return { all: open + done, done, per_second, left_ms };
}
