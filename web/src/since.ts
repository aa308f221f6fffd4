const units: Record<string, number> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const part = /(\d+(?:\.\d+)?)\s*(ms|[smhd])/g;
const parts = /^(?:\d+(?:\.\d+)?\s*(?:ms|[smhd])\s*)+$/;
const date = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?\s*(?:Z|[+-]\d\d:?\d\d)?)?$/;

/** `2h`, `1h30m` and `2026-03-01` alike as a time; empty if it is none of these. */
export function since_time(text: string, now: number): string {
  if (parts.test(text)) {
    let ago = 0;
    for (const [, number, unit] of text.matchAll(part)) ago += Number(number) * units[unit!]!;
    const time = new Date(now - ago);
    return Number.isNaN(time.getTime()) ? "" : time.toISOString();
  }
  // A browser takes almost anything for a time, such as `yesterday 7`.
  const time = date.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? "" : new Date(time).toISOString();
}
