const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** `1,234,567` */
export function count(value: number): string {
  return grouped.format(value);
}

/** `12.3k`: for axes and tiles, where space is short. */
export function compact(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e9) return trimmed(value / 1e9) + "G";
  if (size >= 1e6) return trimmed(value / 1e6) + "M";
  if (size >= 1e4) return trimmed(value / 1e3) + "k";
  return size >= 100 || Number.isInteger(value) ? count(value) : trimmed(value);
}

function trimmed(value: number): string {
  const text = value.toFixed(Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

export function plural(value: number, noun: string, nouns = noun + "s"): string {
  return `${count(value)} ${value === 1 ? noun : nouns}`;
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

function two(value: number, large: number, first: string, small: number, last: string): string {
  const whole = Math.floor(value / large);
  const rest = Math.floor((value % large) / small);
  return rest > 0 ? `${whole} ${first} ${rest} ${last}` : `${whole} ${first}`;
}

/** `640 ms`, `4.2 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h` */
export function duration(milliseconds: number): string {
  const value = Math.abs(milliseconds);
  if (value < second) return `${trimmed(value)} ms`;
  if (value < minute) return `${trimmed(value / second)} s`;
  if (value < hour) return two(value, minute, "min", second, "s");
  if (value < day) return two(value, hour, "h", minute, "min");
  return two(value, day, "d", hour, "h");
}

/** Durations that are short to write, and whose multiples are. */
export const round_durations: number[] = [
  ...[0.01, 0.1, 1, 10, 100].flatMap((unit) => [unit, 2 * unit, 5 * unit]),
  ...[second, minute].flatMap((unit) => [1, 2, 5, 10, 15, 30].map((times) => times * unit)),
  ...[1, 2, 3, 6, 12].map((times) => times * hour),
  ...[1, 2, 7, 14, 28].map((times) => times * day),
];

/** `4 s ago`, `in 2 min`; one unit, because it changes while one looks. */
export function age(then: number, now: number): string {
  const distance = Math.abs(now - then);
  if (distance < second) return "now";
  const text =
    distance < minute
      ? `${Math.floor(distance / second)} s`
      : distance < hour
        ? `${Math.floor(distance / minute)} min`
        : distance < day
          ? `${Math.floor(distance / hour)} h`
          : `${Math.floor(distance / day)} d`;
  return then > now ? `in ${text}` : `${text} ago`;
}

export function bytes(value: number): string {
  const units = ["kB", "MB", "GB", "TB"];
  if (value < 1000) return `${value} B`;
  let amount = value / 1000;
  let unit = 0;
  for (; amount >= 1000 && unit + 1 < units.length; ++unit) amount /= 1000;
  return `${trimmed(amount)} ${units[unit]}`;
}

export function percent(part: number): string {
  return `${trimmed(part * 100)} %`;
}

function padded(value: number, width = 2): string {
  return String(value).padStart(width, "0");
}

/** Local time: `22:31:04.120`, with the date before it unless it is today's. */
export function clock(time: number, now: number, milliseconds = true): string {
  const at = new Date(time);
  const text =
    `${padded(at.getHours())}:${padded(at.getMinutes())}:${padded(at.getSeconds())}` +
    (milliseconds ? `.${padded(at.getMilliseconds(), 3)}` : "");
  if (at.toDateString() === new Date(now).toDateString()) return text;
  return `${at.getFullYear()}-${padded(at.getMonth() + 1)}-${padded(at.getDate())} ${text}`;
}

/** For an axis of times in seconds: as much of each as tells it from its neighbours. */
export function time_labels(times: number[]): string[] {
  const step = times.length > 1 ? times[1]! - times[0]! : 60;
  return times.map((time) => {
    const at = new Date(time * 1000);
    const minutes = `${padded(at.getHours())}:${padded(at.getMinutes())}`;
    if (step < 60) return `${minutes}:${padded(at.getSeconds())}`;
    const is_midnight = at.getHours() === 0 && at.getMinutes() === 0;
    return step >= 86_400 || is_midnight
      ? `${padded(at.getMonth() + 1)}-${padded(at.getDate())}`
      : minutes;
  });
}

/** The end of an id is what differs between ids of the same minute. */
export function short_id(id: string): string {
  return id.length > 14 ? `${id.slice(0, 4)}…${id.slice(-6)}` : id;
}
