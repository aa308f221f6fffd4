/**
 * One window of a browser at a time. A browser has six connections for a server, all windows
 * together; if each kept one for live events, six windows would leave none for anything else.
 *
 * Web Locks, because the browser itself gives the turn to the next window when one is closed,
 * crashes or is discarded.
 */

// So many stores can be listened to at once, each by one window; the rest of the six is for
// questions. Windows on further stores ask every few seconds until one of these is free.
const places = [0, 1, 2] as const;

/** Holds a lock while `work` goes on; nothing where the wait was given up. */
async function hold(name: string, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  try {
    await navigator.locks.request(name, { signal }, work);
  } catch (error) {
    if (!(error instanceof DOMException && error.name === "AbortError")) throw error;
  }
}

/** Does it in the first of the places that is free. */
async function in_a_place(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  const found = new AbortController();
  const waits = AbortSignal.any([signal, found.signal]);
  const once = async () => {
    // Two may be free at the same moment, or the wait may be over just then.
    if (waits.aborted) return;
    found.abort();
    await work();
  };
  await Promise.all(places.map((place) => hold(`holdfast-live-place-${place}`, waits, once)));
}

/** Calls `lead` when it is this window's turn for `path`, for as long as `signal` lets it. */
export function take_turn(path: string, signal: AbortSignal, lead: () => void): void {
  const over = () =>
    new Promise<void>((done) => {
      if (signal.aborted) return done();
      signal.addEventListener("abort", () => done(), { once: true });
      lead();
    });
  // There are none without https, except on this host. Then each window has its own connection.
  if (!("locks" in navigator)) return void over();
  void hold(`holdfast-live-${path}`, signal, () => in_a_place(signal, over));
}
