import { get, in_store, post } from "./api/client";
import type { Values } from "./api/client";
import type { Changed, Filter, TaskPage, Which } from "./api/types";
import type { TaskFilter } from "./filter";

const units: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `2h` and `2026-03-01` alike as a time; empty if it is neither. */
export function since_time(text: string, now: number): string {
  const ago = /^(\d+)\s*([smhd])$/.exec(text);
  if (ago) return new Date(now - Number(ago[1]) * units[ago[2]!]!).toISOString();
  const time = Date.parse(text);
  return Number.isNaN(time) ? "" : new Date(time).toISOString();
}

/** What the API can count and act on; the rest of a filter needs a look into every task. */
function counted(filter: TaskFilter, now: number): Filter {
  return {
    ...(filter.states.length > 0 && { state: filter.states }),
    ...(filter.queue && { queue: filter.queue }),
    ...(filter.kind && { kind: filter.kind }),
    ...(filter.tag && { tag: filter.tag }),
    ...(filter.priority && { priority: Number(filter.priority) }),
    ...(filter.since && { since: since_time(filter.since, now) }),
  };
}

export function needs_search(filter: TaskFilter): boolean {
  return filter.id !== "" || filter.error !== "" || filter.field !== "";
}

function values_of(filter: TaskFilter, now: number): Values {
  return {
    state: filter.states,
    queue: filter.queue,
    kind: filter.kind,
    tag: filter.tag,
    priority: filter.priority,
    since: since_time(filter.since, now),
  };
}

export function search_path(
  filter: TaskFilter,
  cursor: string,
  limit: number,
  now: number,
): string {
  return in_store("/v1/tasks", {
    ...values_of(filter, now),
    id: filter.id,
    error: filter.error,
    payload_field: filter.field,
    payload_value: filter.field ? filter.value : "",
    cursor,
    limit,
  });
}

export function count_path(filter: TaskFilter, now: number): string {
  return needs_search(filter) ? "" : in_store("/v1/tasks/count", values_of(filter, now));
}

const a_page = 500;

/** The ids of all tasks that match, page by page. */
async function all_ids(filter: TaskFilter, now: number): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const page: TaskPage = await get<TaskPage>(search_path(filter, cursor, a_page, now));
    ids.push(...page.tasks.map((task) => task.id));
    cursor = page.next_cursor;
  }
  return ids;
}

/** Retries or cancels everything that matches; answers how many tasks were changed. */
export async function change_all(
  verb: "retry" | "cancel",
  filter: TaskFilter,
  now: number,
): Promise<number> {
  const path = in_store(`/v1/tasks/${verb}`);
  if (!needs_search(filter)) {
    const wanted = counted(filter, now);
    const which: Which = Object.keys(wanted).length > 0 ? { filter: wanted } : { all: true };
    return (await post<Changed>(path, which)).changed;
  }
  const ids = await all_ids(filter, now);
  let changed = 0;
  for (let i = 0; i < ids.length; i += a_page)
    changed += (await post<Changed>(path, { ids: ids.slice(i, i + a_page) })).changed;
  return changed;
}
