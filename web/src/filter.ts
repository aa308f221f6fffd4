import { since_time } from "./since";

export const task_states = [
  "pending",
  "running",
  "completed",
  "failed",
  "cancelled",
  "blocked",
  "held",
] as const;
export type TaskState = (typeof task_states)[number];

/** Which tasks; what is empty does not matter. */
export interface TaskFilter {
  states: TaskState[];
  /** What an address names as a state and is none. */
  no_states: string[];
  id: string;
  kind: string;
  queue: string;
  tag: string;
  priority: string;
  since: string;
  error: string;
  field: string;
  value: string;
}

export const no_filter: TaskFilter = {
  states: [],
  no_states: [],
  id: "",
  kind: "",
  queue: "",
  tag: "",
  priority: "",
  since: "",
  error: "",
  field: "",
  value: "",
};

const texts = [
  "id",
  "kind",
  "queue",
  "tag",
  "priority",
  "since",
  "error",
  "field",
  "value",
] as const;

/** From the query of an address, whatever is in it: see `fault_of`. */
export function filter_from(query: URLSearchParams): TaskFilter {
  const filter: TaskFilter = { ...no_filter };
  const wanted = new Set(query.getAll("state").flatMap((text) => text.split(",")));
  filter.states = task_states.filter((state) => wanted.delete(state));
  filter.no_states = [...wanted].filter((text) => text !== "");
  for (const name of texts) filter[name] = query.get(name)?.trim() ?? "";
  return filter;
}

export function query_of(filter: TaskFilter): URLSearchParams {
  const query = new URLSearchParams();
  const states = [...filter.states, ...filter.no_states];
  if (states.length > 0) query.set("state", states.join(","));
  for (const name of texts) if (filter[name]) query.set(name, filter[name]);
  return query;
}

export function is_empty(filter: TaskFilter): boolean {
  return query_of(filter).toString() === "";
}

/**
 * What is wrong with a filter; empty: nothing. A part that cannot be understood must not be left
 * out: then more would be shown, and changed, than was asked for.
 */
export function fault_of(filter: TaskFilter): string {
  if (filter.no_states.length > 0)
    return `There is no state “${filter.no_states[0]}”: tasks are ${task_states.join(", ")}.`;
  if (filter.since && !since_time(filter.since, 0))
    return (
      `“Created since” is “${filter.since}”. Write how long ago, such as 2h, 1h30m or 7d, ` +
      "or a time such as 2026-03-01T12:00Z."
    );
  if (filter.value && !filter.field)
    return "There is a value, and no payload field that should have it.";
  if (filter.priority && !/^[1-5]$/.test(filter.priority))
    return `The priority is “${filter.priority}”; it is a number from 1 to 5.`;
  return "";
}

/** `tasks that are failed or held, of kind resize`: what an action is about to change. */
export function words_of(filter: TaskFilter): string {
  const parts: string[] = [];
  if (filter.id) parts.push(`with id ${filter.id}`);
  if (filter.states.length > 0) parts.push(`that are ${filter.states.join(" or ")}`);
  if (filter.kind) parts.push(`of kind ${filter.kind}`);
  if (filter.queue) parts.push(`in queue ${filter.queue}`);
  if (filter.tag) parts.push(`tagged ${filter.tag}`);
  if (filter.priority) parts.push(`of priority ${filter.priority}`);
  if (filter.since) parts.push(`created since ${filter.since}`);
  if (filter.error) parts.push(`whose error has “${filter.error}”`);
  if (filter.field)
    parts.push(`whose payload has ${filter.field}${filter.value && ` = ${filter.value}`}`);
  return parts.length > 0 ? "tasks " + parts.join(", ") : "all tasks";
}
