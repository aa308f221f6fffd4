interface Props {
  at_start: boolean;
  next: string | null;
  go: (cursor: string) => void;
  note?: string;
}

/** Pages by cursor: on with `next`, back with the browser's own button or to the beginning. */
export function Pager({ at_start, next, go, note = "" }: Props) {
  if (at_start && next === null && !note) return null;
  return (
    <nav class="pager" aria-label="Pages of this list">
      <span class="dim" role="status">
        {note}
      </span>
      <button type="button" disabled={at_start} onClick={() => go("")}>
        First page
      </button>
      <button type="button" disabled={next === null} onClick={() => next !== null && go(next)}>
        Next page
      </button>
    </nav>
  );
}
