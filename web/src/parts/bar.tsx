import { percent } from "../text/format";

/** How much of something is done or in use, as a drawing beside its number. */
export function Bar({
  part,
  label,
  tone = "busy",
}: {
  part: number;
  label: string;
  tone?: string;
}) {
  const width = Math.max(0, Math.min(1, part)) * 100;
  return (
    <span class="bar">
      <svg
        viewBox="0 0 100 8"
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}: ${percent(part)}`}
      >
        <rect class="bar-all" width="100" height="8" />
        <rect class={`bar-part ${tone}`} width={width} height="8" />
      </svg>
      <span class="bar-text" aria-hidden="true">
        {percent(part)}
      </span>
    </span>
  );
}
