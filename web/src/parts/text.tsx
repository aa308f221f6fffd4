import { Fragment } from "preact";
import { useState } from "preact/hooks";
import { age, bytes, clock, short_id } from "../text/format";
import { pretty } from "../text/exact_json";
import { pieces, plain } from "../text/visible";
import { use_now } from "./now";

/** What somebody else wrote: shown, never interpreted, and unable to reorder what is around it. */
export function Text({ value }: { value: string }) {
  return (
    <bdi class="text">
      {pieces(value).map((piece, i) =>
        piece.marked ? (
          <span key={i} class="acting">
            {piece.text}
          </span>
        ) : (
          <Fragment key={i}>{piece.text}</Fragment>
        ),
      )}
    </bdi>
  );
}

const a_screenful = 20_000;

/** A block of such text. What is very long is shown a piece at a time, or the page would freeze. */
export function TextBlock({ value, label }: { value: string; label: string }) {
  const [shown, set_shown] = useState(a_screenful);
  return (
    <div class="block">
      <pre tabIndex={0} aria-label={label}>
        <Text value={value.slice(0, shown)} />
      </pre>
      {value.length > shown && (
        <p class="note">
          {bytes(shown)} of {bytes(value.length)} shown.{" "}
          <button type="button" class="small" onClick={() => set_shown(shown * 4)}>
            Show more
          </button>
        </p>
      )}
    </div>
  );
}

export function JsonBlock({ value, label }: { value: unknown; label: string }) {
  return <TextBlock value={pretty(value)} label={label} />;
}

/** A moment, by its age; the exact time is its title. */
export function Age({ at }: { at: string | null | undefined }) {
  const now = use_now();
  if (!at) return <span class="dim">–</span>;
  return (
    <time dateTime={at} title={at}>
      {age(Date.parse(at), now)}
    </time>
  );
}

export function Clock({ at }: { at: string | null | undefined }) {
  const now = use_now();
  if (!at) return <span class="dim">–</span>;
  return (
    <time dateTime={at} title={at}>
      {clock(Date.parse(at), now)}
    </time>
  );
}

export function Id({ id, href, whole }: { id: string; href?: string; whole?: boolean }) {
  const text = whole ? plain(id) : short_id(plain(id));
  if (!href)
    return (
      <span class="id" title={id}>
        {text}
      </span>
    );
  return (
    <a class="id" href={href} title={plain(id)}>
      {text}
    </a>
  );
}

const tones: Record<string, string> = {
  pending: "quiet",
  running: "busy",
  completed: "good",
  failed: "bad",
  cancelled: "quiet",
  blocked: "warn",
  held: "warn",
  stopped: "quiet",
  dead: "bad",
  queued: "quiet",
  inprog: "busy",
  success: "good",
  aborted: "quiet",
  wait: "warn",
  complete: "good",
  interrupted: "warn",
  "dry run": "quiet",
  normal: "good",
  "read-only": "warn",
  halted: "bad",
  paused: "warn",
};

/** A state as a word with a dot; the colour says nothing that the word does not. */
export function State({ state, tone }: { state: string; tone?: string }) {
  return <span class={`state ${tone || (tones[state] ?? "quiet")}`}>{plain(state)}</span>;
}
