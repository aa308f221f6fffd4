import { Problem } from "./api/client";

const day_ms = 86_400_000;

function names(text: string | undefined): string[] {
  return (text ?? "").split(/[\s,]+/).filter((name) => name !== "");
}

/** What the server is sent for a token; it checks names and scopes itself. */
export function new_token(values: Record<string, string>, now: number): Record<string, unknown> {
  const days = values["days"] ?? "";
  if (days !== "" && !/^\d{1,4}$/.test(days)) {
    const advice = "write a whole number, or nothing for a token that does not expire";
    throw new Problem(400, "invalid_request", `“Valid for days” is “${days}”; ${advice}.`, "");
  }
  return {
    name: values["name"] ?? "",
    scopes: names(values["scopes"]),
    queues: names(values["queues"]),
    kinds: names(values["kinds"]),
    expires: days === "" ? null : new Date(now + Number(days) * day_ms).toISOString(),
  };
}
