import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { get, Problem } from "./client";
import { listen } from "./live";
import type { Topic } from "./live";

export interface Resource<Answer> {
  /** The last answer; stays while the next one is being asked for, so that nothing flickers. */
  data: Answer | undefined;
  problem: Problem | undefined;
  reload: () => void;
}

// However many events come, a page asks this often at most.
const at_most_every = 700;
// What has no events of its own (heartbeats, rates) is asked for this often.
const at_least_every = 5_000;
/** For what is asked for once; a timer of a browser has no longer time. */
export const never = 2 ** 31 - 1;

/**
 * What a GET answers, now and whenever one of the topics changes, and every now and then. An empty
 * path asks nothing.
 */
export function use_resource<Answer>(
  path: string,
  topics: readonly Topic[],
  every = at_least_every,
  read: (path: string, signal: AbortSignal) => Promise<Answer> = get,
): Resource<Answer> {
  const [data, set_data] = useState<{ path: string; answer: Answer }>();
  const [problem, set_problem] = useState<Problem>();
  const ask_again = useRef<() => void>(() => undefined);
  const topic_list = topics.join(" ");

  useEffect(() => {
    const stop = new AbortController();
    let timer: number | undefined;
    let asked = 0;
    let asking = false;
    let changed = false;
    const ask = async () => {
      if (document.hidden && asked > 0) return plan(every);
      asking = true;
      changed = false;
      asked = Date.now();
      try {
        const answer = await read(path, stop.signal);
        if (stop.signal.aborted) return;
        set_data({ path, answer });
        set_problem(undefined);
      } catch (error) {
        if (stop.signal.aborted) return;
        if (!(error instanceof Problem)) throw error;
        set_problem(error);
        if (error.is_signed_out) dispatchEvent(new Event("signedout"));
      } finally {
        asking = false;
        if (!stop.signal.aborted) plan(changed ? at_most_every : every);
      }
    };
    const plan = (delay: number) => {
      clearTimeout(timer);
      timer = window.setTimeout(ask, delay);
    };
    const soon = () => {
      changed = true;
      if (!asking) plan(Math.max(0, asked + at_most_every - Date.now()));
    };
    ask_again.current = path ? soon : () => undefined;
    if (path) void ask();
    const wanted = topic_list.split(" ").filter((topic) => topic !== "") as Topic[];
    const unlisten = path ? listen(wanted, soon) : () => undefined;
    return () => {
      stop.abort();
      clearTimeout(timer);
      unlisten();
    };
  }, [path, topic_list]);

  const reload = useCallback(() => ask_again.current(), []);
  // The answer to another question is not shown under this one.
  return { data: data?.path === path ? data.answer : undefined, problem, reload };
}
