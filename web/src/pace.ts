import type { Batch } from "./api/types";

type Rows = Pick<Batch, "id" | "rows">;

export interface Progress {
  all: number;
  /** Processed, well or not. What was aborted is not. */
  done: number;
  open: number;
}

export function progress({ rows }: Pick<Batch, "rows">): Progress {
  const open = rows.queued + rows.inprog;
  const done = rows.success + rows.failed;
  return { all: open + done + rows.aborted, done, open };
}

export interface Pace {
  /** Null where nothing is known yet, or it is over. */
  per_second: number | null;
  left_ms: number | null;
}

const window_ms = 30_000;

interface Look {
  at: number;
  done: number;
}

/** The looks from when it began to get on: before that it waited for workers. */
function since_begin(looks: Look[]): Look[] {
  const moved = looks.findIndex((look) => look.done !== looks[0]?.done);
  return moved < 0 ? looks : looks.slice(moved - 1);
}

/**
 * How quickly batches get on, measured between looks at them: an average since a batch was
 * submitted would count the time that it waited for workers.
 */
export class Pacer {
  private readonly looks = new Map<string, Look[]>();

  look(batch: Rows, now: number): void {
    const all = this.looks.get(batch.id) ?? [];
    const recent = all.filter((each) => now - each.at <= window_ms);
    this.looks.set(batch.id, [...recent, { at: now, done: progress(batch).done }]);
  }

  pace(batch: Rows): Pace {
    const looks = since_begin(this.looks.get(batch.id) ?? []);
    const first = looks[0];
    const last = looks.at(-1);
    const { open } = progress(batch);
    if (!first || !last || last.at === first.at || open === 0)
      return { per_second: null, left_ms: null };
    const per_second = Math.max(0, ((last.done - first.done) * 1000) / (last.at - first.at));
    return { per_second, left_ms: per_second > 0 ? (open * 1000) / per_second : null };
  }
}
