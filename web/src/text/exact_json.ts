/** A number that a double cannot hold, as it was written. */
export class ExactNumber {
  constructor(readonly source: string) {}
}

type Reviver = (
  this: unknown,
  key: string,
  value: unknown,
  context?: { source?: string },
) => unknown;

const keep_exact: Reviver = (_key, value, context) => {
  const source = context?.source;
  if (typeof value !== "number" || source === undefined || source.length < 16) return value;
  return String(value) === source ? value : new ExactNumber(source);
};

/**
 * JSON whose large numbers survive: a payload is shown as it was given. Browsers that do not tell a
 * reviver the source text round them, as `JSON.parse` always does.
 */
export function parse_exact(text: string): unknown {
  return JSON.parse(text, keep_exact as (this: unknown, key: string, value: unknown) => unknown);
}

/** JSON for people: two spaces deep, short lists and objects on one line. */
export function pretty(value: unknown, indent = ""): string {
  if (value instanceof ExactNumber) return value.source;
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  const inner = indent + "  ";
  const list = Array.isArray(value);
  const parts = list
    ? value.map((each) => pretty(each, inner))
    : Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${pretty(each, inner)}`);
  const [open, close] = list ? ["[", "]"] : ["{", "}"];
  if (parts.length === 0) return open + close;
  const line = parts.join(", ");
  if (line.length < 72 && !line.includes("\n")) return list ? `[${line}]` : `{ ${line} }`;
  return `${open}\n${parts.map((part) => inner + part).join(",\n")}\n${indent}${close}`;
}

/** On one line, for tables; cut where it is too long to be read there anyway. */
export function one_line(value: unknown, most = 120): string {
  const text = pretty(value).replace(/\n\s*/g, " ");
  return text.length > most ? text.slice(0, most) + "…" : text;
}
