import { Problem } from "./api/client";

const day_ms = 86_400_000;

function names(text: string | undefined): string[] {
  return (text ?? "").split(/[\s,]+/).filter((name) => name !== "");
}

function number_in(
  values: Record<string, string>,
  name: string,
  label: string,
  nothing: string,
): number | null {
  const text = values[name] ?? "";
  if (text === "") return null;
  if (/^\d{1,9}$/.test(text) && (name !== "days" || text.length <= 4)) return Number(text);
  const advice = `write a whole number, or nothing ${nothing}`;
  throw new Problem(400, "invalid_request", `“${label}” is “${text}”; ${advice}.`, "");
}

/** What the server is sent for a token; it checks names and scopes itself. */
export function new_token(values: Record<string, string>, now: number): Record<string, unknown> {
  const days = number_in(values, "days", "Valid for days", "for a token that does not expire");
  const no_quota = "for no quota";
  return {
    name: values["name"] ?? "",
    scopes: names(values["scopes"]),
    queues: names(values["queues"]),
    kinds: names(values["kinds"]),
    quota_per_minute: number_in(values, "quota_per_minute", "Tasks a minute", no_quota),
    quota_waiting: number_in(values, "quota_waiting", "Tasks that wait", no_quota),
    expires: days === null ? null : new Date(now + days * day_ms).toISOString(),
  };
}
