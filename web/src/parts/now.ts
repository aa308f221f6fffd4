import { useEffect, useState } from "preact/hooks";

const listeners = new Set<(now: number) => void>();

// One clock for the page, so that all ages on it change together.
setInterval(() => {
  const now = Date.now();
  for (const listener of listeners) listener(now);
}, 1000);

export function use_now(): number {
  const [now, set_now] = useState(() => Date.now());
  useEffect(() => {
    listeners.add(set_now);
    return () => void listeners.delete(set_now);
  }, []);
  return now;
}
