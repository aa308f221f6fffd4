import { Empty } from "../parts/empty";
import { Clock, State, Text } from "../parts/text";
import { duration } from "../text/format";
import type { Entry } from "../timeline";

export function Timeline({ entries }: { entries: Entry[] }) {
  if (entries.length === 0) return <Empty sentence="Nothing has happened to this task yet." />;
  return (
    <ol class="timeline" tabIndex={0} aria-label="Timeline">
      {entries.map((entry, i) => (
        <li key={i} class={entry.what}>
          <span class="when">
            <Clock at={entry.at} />
          </span>
          {entry.what === "step" ? (
            <Step entry={entry} />
          ) : (
            <code class="log-line">
              <Text value={entry.line.text} />
            </code>
          )}
        </li>
      ))}
    </ol>
  );
}

function Step({ entry: { step, after_ms } }: { entry: Extract<Entry, { what: "step" }> }) {
  const notes = [
    after_ms === null ? "" : `after ${duration(after_ms)}`,
    step.attempt > 0 ? `attempt ${step.attempt}` : "",
    step.token > 0 ? `token ${step.token}` : "",
  ].filter(Boolean);
  return (
    <div>
      <State state={step.to} />{" "}
      <span class="dim">
        by <Text value={step.actor} />
      </span>
      {step.reason && (
        <p class="reason">
          <Text value={step.reason} />
        </p>
      )}
      <p class="note">{notes.join(" · ")}</p>
    </div>
  );
}
