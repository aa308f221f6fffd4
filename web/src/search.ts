import { in_store, post, Problem } from "./api/client";
import type { Values } from "./api/client";
import type { Changed, Filter, Which } from "./api/types";
import type { TaskFilter } from "./filter";
import { since_time } from "./since";

/** The filter as the API has it. Whoever uses it has looked at `fault_of`. */
export function wanted(filter: TaskFilter, now: number): Filter {
  return {
    ...(filter.states.length > 0 && { state: filter.states }),
    ...(filter.id && { id: filter.id }),
    ...(filter.queue && { queue: filter.queue }),
    ...(filter.kind && { kind: filter.kind }),
    ...(filter.tag && { tag: filter.tag }),
    ...(filter.priority && { priority: Number(filter.priority) }),
    ...(filter.since && { since: since_time(filter.since, now) }),
    ...(filter.error && { error: filter.error }),
    ...(filter.field && { payload_field: filter.field }),
    ...(filter.value && { payload_value: filter.value }),
  };
}

function needs_search(filter: TaskFilter): boolean {
  return filter.id !== "" || filter.error !== "" || filter.field !== "";
}

export function search_path(
  filter: TaskFilter,
  cursor: string,
  limit: number,
  now: number,
): string {
  return in_store("/v1/tasks", { ...(wanted(filter, now) as Values), cursor, limit });
}

export function count_path(filter: TaskFilter, now: number): string {
  if (needs_search(filter)) return "";
  return in_store("/v1/tasks/count", wanted(filter, now) as Values);
}

type Verb = "retry" | "cancel";

function which(filter: TaskFilter, now: number): Which {
  const body = wanted(filter, now);
  return Object.keys(body).length > 0 ? { filter: body } : { all: true };
}

/**
 * How many tasks that would change, as far as the server finds out in a moment. Nothing where it
 * cannot be asked: then doing it says why.
 */
export async function try_all(
  verb: Verb,
  filter: TaskFilter,
  now: number,
): Promise<Changed | undefined> {
  const path = in_store(`/v1/tasks/${verb}`);
  try {
    return await post<Changed>(path, { ...which(filter, now), dry_run: true });
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

export interface Outcome {
  changed: number;
  looked_at: number;
  /** False: it was stopped, and there may be more. */
  complete: boolean;
}

/**
 * Retries or cancels everything that matches. A filter that needs a look into every task is worked
 * off piece by piece: `go_on` hears how far it is, and ends it by answering false.
 */
export async function change_all(
  verb: Verb,
  filter: TaskFilter,
  now: number,
  go_on: (so_far: Outcome) => boolean,
): Promise<Outcome> {
  const sum: Outcome = { changed: 0, looked_at: 0, complete: false };
  for (let cursor = ""; ; ) {
    const answer = await post<Changed>(in_store(`/v1/tasks/${verb}`), {
      ...which(filter, now),
      ...(cursor && { cursor }),
    });
    sum.changed += answer.changed;
    sum.looked_at += answer.looked_at ?? 0;
    cursor = answer.next_cursor ?? "";
    sum.complete = cursor === "";
    if (sum.complete || !go_on(sum)) return sum;
  }
}
