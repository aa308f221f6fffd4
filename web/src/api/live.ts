import { useEffect, useState } from "preact/hooks";

/**
 * Live events. Most pages take an event as a hint that something of its topic changed, and ask for
 * what they show. So an event that comes twice or late does no harm; after `reset` (the server does
 * not know any more what was missed) and after a connection that the browser could not resume, all
 * topics count as changed.
 */
export const topics = ["queues", "workers", "recovery", "report", "point", "tasks"] as const;
export type Topic = (typeof topics)[number];

type Listener = (data: string) => void;

const listeners = new Map<Topic, Set<Listener>>();
const state_listeners = new Set<(connected: boolean) => void>();
const shortest_wait = 1_000;
const longest_wait = 30_000;
let source: EventSource | null = null;
let connected = false;
let retry: number | undefined;
let wait = shortest_wait;
let last_event = "";

function set_connected(now: boolean): void {
  connected = now;
  for (const listener of state_listeners) listener(now);
}

function tell_all(): void {
  for (const [topic, set] of listeners)
    if (topic !== "point") for (const listener of set) listener("");
}

function connect(path: string): void {
  const resume = last_event ? `last_event_id=${encodeURIComponent(last_event)}` : "";
  const made = new EventSource(resume ? path + (path.includes("?") ? "&" : "?") + resume : path);
  source = made;
  made.onopen = () => {
    wait = shortest_wait;
    set_connected(true);
  };
  for (const topic of topics)
    made.addEventListener(topic, (event: MessageEvent<string>) => {
      last_event = event.lastEventId;
      for (const listener of listeners.get(topic) ?? []) listener(event.data);
    });
  made.addEventListener("reset", tell_all);
  made.onerror = () => {
    set_connected(false);
    // The browser connects again by itself and names the last event that it saw, unless the server
    // refused, such as while it was being restarted behind a proxy.
    if (made.readyState !== EventSource.CLOSED) return;
    retry = window.setTimeout(() => connect(path), wait);
    wait = Math.min(wait * 2, longest_wait);
  };
}

function disconnect(): void {
  clearTimeout(retry);
  source?.close();
  source = null;
  set_connected(false);
}

// A browser has six connections for a server, all tabs together. One that nobody looks at must not
// keep another from showing anything.
let watched_path = "";
document.addEventListener("visibilitychange", () => {
  disconnect();
  if (document.hidden || !watched_path) return;
  connect(watched_path);
  tell_all();
});

export function start_live(path: string): void {
  stop_live();
  watched_path = path;
  connect(path);
}

export function stop_live(): void {
  watched_path = "";
  last_event = "";
  disconnect();
}

export function listen(wanted: readonly Topic[], listener: Listener): () => void {
  for (const topic of wanted)
    listeners.set(topic, (listeners.get(topic) ?? new Set()).add(listener));
  return () => {
    for (const topic of wanted) listeners.get(topic)?.delete(listener);
  };
}

export function use_connected(): boolean {
  const [now, set_now] = useState(connected);
  useEffect(() => {
    state_listeners.add(set_now);
    set_now(connected);
    return () => void state_listeners.delete(set_now);
  }, []);
  return now;
}
