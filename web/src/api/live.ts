import { useEffect, useState } from "preact/hooks";
import { take_turn } from "./turns";

/**
 * Live events. Most pages take an event as a hint that something of its topic changed, and ask for
 * what they show. So an event that comes twice or late does no harm; after `reset` (the server does
 * not know any more what was missed) and after a connection that the browser could not resume, all
 * topics count as changed.
 *
 * One window of the browser has the connection and tells the others what it hears. When it goes, or
 * nobody looks at it any more, another one goes on after the last event that it was told.
 */
export const topics = ["queues", "workers", "recovery", "report", "point", "tasks"] as const;
export type Topic = (typeof topics)[number];

type Listener = (data: string) => void;

/** What windows tell each other. */
type Word =
  | { what: "event"; topic: Topic; data: string; id: string }
  | { what: "reset" }
  | { what: "state"; connected: boolean }
  /** From a window that has just come: how is it? */
  | { what: "question" };

const listeners = new Map<Topic, Set<Listener>>();
const state_listeners = new Set<(connected: boolean) => void>();
const shortest_wait = 1_000;
const longest_wait = 30_000;
let path = "";
let others: BroadcastChannel | null = null;
/** Ends our turn, or our wait for it. */
let turn: AbortController | null = null;
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

/** Something was heard, from the server or from the window that is connected to it. */
function hear(word: Word): void {
  if (word.what === "reset") tell_all();
  if (word.what === "state") set_connected(word.connected);
  if (word.what !== "event") return;
  if (!connected) set_connected(true);
  last_event = word.id;
  for (const listener of listeners.get(word.topic) ?? []) listener(word.data);
}

function pass_on(word: Word): void {
  others?.postMessage(word);
  hear(word);
}

function connect(): void {
  // Whoever was connected before may have died without a word.
  pass_on({ what: "state", connected: false });
  const resume = last_event ? `last_event_id=${encodeURIComponent(last_event)}` : "";
  const made = new EventSource(resume ? path + (path.includes("?") ? "&" : "?") + resume : path);
  source = made;
  made.onopen = () => {
    wait = shortest_wait;
    pass_on({ what: "state", connected: true });
  };
  for (const topic of topics)
    made.addEventListener(topic, ({ data, lastEventId }: MessageEvent<string>) =>
      pass_on({ what: "event", topic, data, id: lastEventId }),
    );
  made.addEventListener("reset", () => pass_on({ what: "reset" }));
  made.onerror = () => {
    pass_on({ what: "state", connected: false });
    // The browser connects again by itself and names the last event that it saw, unless the server
    // refused, such as while it was being restarted behind a proxy.
    if (made.readyState !== EventSource.CLOSED) return;
    retry = window.setTimeout(connect, wait);
    wait = Math.min(wait * 2, longest_wait);
  };
}

function disconnect(): void {
  clearTimeout(retry);
  turn?.abort();
  turn = null;
  if (source) others?.postMessage({ what: "state", connected: false } satisfies Word);
  source?.close();
  source = null;
  set_connected(false);
}

function take_part(): void {
  turn = new AbortController();
  take_turn(path, turn.signal, connect);
  others?.postMessage({ what: "question" } satisfies Word);
}

function listen_to_others(): BroadcastChannel {
  const channel = new BroadcastChannel(`holdfast-live-${path}`);
  channel.onmessage = ({ data: word }: MessageEvent<Word>) => {
    if (word.what !== "question") return hear(word);
    if (source) channel.postMessage({ what: "state", connected } satisfies Word);
  };
  return channel;
}

// A window that nobody looks at leaves the connection to one that somebody looks at.
document.addEventListener("visibilitychange", () => {
  disconnect();
  if (document.hidden || !path) return;
  take_part();
  tell_all();
});

export function start_live(wanted: string): void {
  stop_live();
  path = wanted;
  others = listen_to_others();
  if (!document.hidden) take_part();
}

export function stop_live(): void {
  disconnect();
  others?.close();
  others = null;
  path = "";
  last_event = "";
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
