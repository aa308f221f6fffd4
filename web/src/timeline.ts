import type { LogLine, Transition } from "./api/types";

export type Entry =
  | { what: "step"; at: string; step: Transition; after_ms: number | null }
  | { what: "log"; at: string; line: LogLine };

/**
 * The steps and the log lines of a task as one list by time. At the same moment steps go first,
 * except that what was logged before the end stays before it.
 */
export function timeline(steps: Transition[], lines: LogLine[]): Entry[] {
  const entries: Entry[] = [];
  const rest = [...lines];
  let last: number | null = null;
  for (const step of steps) {
    const ends = step.from === "running";
    while (rest[0] && (ends ? rest[0].at <= step.at : rest[0].at < step.at))
      entries.push({ what: "log", at: rest[0].at, line: rest.shift()! });
    const time = Date.parse(step.at);
    entries.push({ what: "step", at: step.at, step, after_ms: last === null ? null : time - last });
    last = time;
  }
  for (const line of rest) entries.push({ what: "log", at: line.at, line });
  return entries;
}
