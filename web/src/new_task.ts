import { Problem } from "./api/client";

function refused(sentence: string): Problem {
  return new Problem(400, "invalid_request", sentence, "");
}

const labels: Record<string, string> = {
  priority: "The priority",
  max_attempts: "“Most attempts”",
  delay_s: "The delay",
};

/** What was typed as a number; other words must not become one by themselves. */
function number_in(values: Record<string, string>, name: string, pattern: RegExp): number {
  const text = values[name] ?? "";
  if (!pattern.test(text)) throw refused(`${labels[name]} is “${text}”, which is no number.`);
  return Number(text);
}

const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** An id as the server makes them: the time, then chance. */
export function new_id(now: number): string {
  let time = "";
  for (let rest = now; time.length < 10; rest = Math.floor(rest / 32))
    time = digits[rest % 32] + time;
  const chance = crypto.getRandomValues(new Uint8Array(16));
  return time + Array.from(chance, (byte) => digits[byte % 32]).join("");
}

/** What the server is sent for a task; the payload goes into it as it was typed. */
export function task_text(values: Record<string, string>): string {
  const payload = values["payload"] || "{}";
  try {
    JSON.parse(payload);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw refused(`The payload is not JSON: ${error.message}.`);
  }
  const members = [`"kind":${JSON.stringify(values["kind"] ?? "")}`, `"payload":${payload}`];
  for (const name of ["queue", "unique_key", "id"])
    if (values[name]) members.push(`"${name}":${JSON.stringify(values[name])}`);
  for (const name of ["priority", "max_attempts"])
    if (values[name]) members.push(`"${name}":${number_in(values, name, /^\d+$/)}`);
  if (values["delay_s"]) {
    const seconds = number_in(values, "delay_s", /^\d+(\.\d+)?$/);
    members.push(`"delay_ms":${Math.round(seconds * 1000)}`);
  }
  return `{${members.join(",")}}`;
}

export function schedule_text(values: Record<string, string>): string {
  const members = ["name", "cron", "zone", "missed"]
    .filter((name) => values[name])
    .map((name) => `"${name}":${JSON.stringify(values[name])}`);
  return `{${members.join(",")},"task":${task_text(values)}}`;
}
