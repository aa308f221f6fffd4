import { current_store } from "../store";
import { parse_exact } from "../text/exact_json";

/** Why the server did not do something (problem+json), or why it cannot be asked. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly title: string,
    readonly detail: string,
  ) {
    super(detail || title);
  }

  get is_signed_out(): boolean {
    return this.status === 401;
  }
}

/** What to do about it, where there is something to do. */
export function advice_for(problem: Problem): string {
  if (problem.status === 0)
    return "Is the server running? The page goes on by itself when it is back.";
  if (problem.status === 401) return "Sign in again.";
  if (problem.status === 403)
    return "Your role does not allow this. Ask an administrator for another one.";
  if (problem.status === 429) return "Wait a little, then try again.";
  if (problem.status >= 500) return "The server's log says more. Trying again is safe.";
  return "";
}

let csrf_token = "";

export function set_csrf_token(token: string): void {
  csrf_token = token;
}

async function answer_of(path: string, options: RequestInit): Promise<Response> {
  try {
    return await fetch(path, { credentials: "same-origin", cache: "no-store", ...options });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Problem(0, "unreachable", "The server cannot be reached.", "");
  }
}

function text_in(body: unknown, name: string): string {
  if (typeof body !== "object" || body === null) return "";
  const value = (body as Record<string, unknown>)[name];
  return typeof value === "string" ? value : "";
}

async function read<Answer>(response: Response): Promise<Answer> {
  const text = await response.text();
  const is_json = /json/.test(response.headers.get("content-type") ?? "");
  if (response.ok) return (is_json && text ? parse_exact(text) : null) as Answer;
  const body = is_json ? parse_exact(text) : null;
  throw new Problem(
    response.status,
    text_in(body, "code"),
    text_in(body, "title") || `The server answered ${response.status}.`,
    text_in(body, "detail"),
  );
}

export async function get<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
  return read<Answer>(await answer_of(path, { signal: signal ?? null }));
}

/** The address of the page of a list that begins there. */
export function with_cursor(path: string, cursor: string): string {
  return `${path}${path.includes("?") ? "&" : "?"}cursor=${encodeURIComponent(cursor)}`;
}

/** All pages of a list as one answer. For lists that cannot be long. */
export async function get_all<Answer extends { next_cursor: string | null }>(
  path: string,
  list: keyof Answer,
  signal?: AbortSignal,
): Promise<Answer> {
  const whole = await get<Answer>(path, signal);
  for (let next = whole.next_cursor; next !== null; ) {
    const page = await get<Answer>(with_cursor(path, next), signal);
    (whole[list] as unknown[]).push(...(page[list] as unknown[]));
    next = page.next_cursor;
  }
  return { ...whole, next_cursor: null };
}

/** `json` is sent as it is: what somebody typed keeps its large numbers. */
export async function post_text<Answer>(path: string, json: string | null): Promise<Answer> {
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  if (csrf_token) headers["X-CSRF-Token"] = csrf_token;
  return read<Answer>(await answer_of(path, { method: "POST", headers, body: json }));
}

export async function post<Answer>(path: string, body?: unknown): Promise<Answer> {
  return post_text<Answer>(path, body === undefined ? null : JSON.stringify(body));
}

export type Values = Record<string, string | number | readonly string[] | undefined>;

/** The address of something in the store that is looked at; what is empty is left out. */
export function in_store(path: string, values: Values = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...values, store: current_store() })) {
    if (Array.isArray(value)) for (const each of value) query.append(name, each);
    else if (value !== undefined && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}
