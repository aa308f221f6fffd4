import { Problem } from "./api/client";

/** What the server is sent for a task; the payload goes into it as it was typed. */
export function task_text(values: Record<string, string>): string {
  const payload = values["payload"] || "{}";
  try {
    JSON.parse(payload);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const sentence = `The payload is not JSON: ${error.message}.`;
    throw new Problem(400, "not_json", sentence, "");
  }
  const members = [`"kind":${JSON.stringify(values["kind"] ?? "")}`, `"payload":${payload}`];
  for (const name of ["queue", "unique_key"])
    if (values[name]) members.push(`"${name}":${JSON.stringify(values[name])}`);
  for (const name of ["priority", "max_attempts"])
    if (values[name]) members.push(`"${name}":${JSON.stringify(Number(values[name]))}`);
  if (values["delay_s"]) members.push(`"delay_ms":${Math.round(Number(values["delay_s"]) * 1000)}`);
  return `{${members.join(",")}}`;
}

export function schedule_text(values: Record<string, string>): string {
  const members = ["name", "cron", "zone", "missed"]
    .filter((name) => values[name])
    .map((name) => `"${name}":${JSON.stringify(values[name])}`);
  return `{${members.join(",")},"task":${task_text(values)}}`;
}
