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

/** From the query of an address; what is no state is left out rather than shown as a filter. */
export function filter_from(query: URLSearchParams): TaskFilter {
  const filter: TaskFilter = { ...no_filter };
  const wanted = new Set(query.getAll("state").flatMap((text) => text.split(",")));
  filter.states = task_states.filter((state) => wanted.has(state));
  for (const name of texts) filter[name] = query.get(name)?.trim() ?? "";
  return filter;
}

export function query_of(filter: TaskFilter): URLSearchParams {
  const query = new URLSearchParams();
  if (filter.states.length > 0) query.set("state", filter.states.join(","));
  for (const name of texts) if (filter[name]) query.set(name, filter[name]);
  return query;
}

export function is_empty(filter: TaskFilter): boolean {
  return query_of(filter).toString() === "";
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
  if (filter.field) parts.push(`whose payload has ${filter.field} = ${filter.value}`);
  return parts.length > 0 ? "tasks " + parts.join(", ") : "all tasks";
}
