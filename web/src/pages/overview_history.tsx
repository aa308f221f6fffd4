import { useEffect, useMemo, useState } from "preact/hooks";
import { get_all, in_store } from "../api/client";
import { listen } from "../api/live";
import { use_resource } from "../api/resource";
import type { History as Kept, Point } from "../api/types";
import { columns_of, joined, range_of, ranges } from "../history";
import { Chart } from "../parts/chart";
import { Loaded, Section } from "../parts/page";
import { Tiles } from "../parts/tiles";
import type { Tile } from "../parts/tiles";
import { refine } from "../route";
import type { Route } from "../route";
import { compact, duration, round_durations } from "../text/format";

const most_live_points = 3_600;

/** Samples as they come, one a second. */
function use_live_points(): Point[] {
  const [points, set_points] = useState<Point[]>([]);
  useEffect(
    () =>
      listen(["point"], (data) => {
        if (data) set_points((old) => [...old.slice(-most_live_points), JSON.parse(data) as Point]);
      }),
    [],
  );
  return points;
}

export function History({ route }: { route: Route }) {
  const range = range_of(route.query.get("range"));
  const kept = use_resource<Kept>(
    in_store("/v1/metrics/history", { seconds: range.seconds }),
    [],
    60_000,
    (path, signal) => get_all<Kept>(path, "points", signal),
  );
  const live = use_live_points();
  const choice = (
    <div class="choice" role="group" aria-label="How far back">
      {ranges.map((each) => (
        <button
          key={each.name}
          type="button"
          class="small"
          aria-pressed={each === range}
          onClick={() => refine(route, { range: each.name })}
        >
          {each.name}
        </button>
      ))}
    </div>
  );
  return (
    <Section title="Now and before" aside={choice}>
      <Loaded from={kept}>
        {(answer) => {
          const step = answer.resolution_s;
          const points = joined(answer.points, step <= 1 ? live : [], range.seconds, Date.now());
          const newest = live.at(-1) ?? points.at(-1);
          return (
            <>
              {newest && <Tiles tiles={tiles_of(newest)} />}
              <Charts points={points} step={step} />
              <p class="note">
                One point for every {duration(step * 1000)}; kept in {answer.kept_in}.
              </p>
            </>
          );
        }}
      </Loaded>
    </Section>
  );
}

function tiles_of(point: Point): Tile[] {
  return [
    { name: "Completed per second", value: compact(point.completed_per_s) },
    { name: "95 % took at most", value: point.p95_ms === null ? "–" : duration(point.p95_ms) },
    { name: "In flight", value: compact(point.running) },
    { name: "Waiting", value: compact(point.pending) },
    {
      name: "Dead letters",
      value: compact(point.failed),
      tone: point.failed > 0 ? "bad-text" : "",
    },
    {
      name: "Workers",
      value: compact(point.workers),
      tone: point.workers === 0 ? "warn-text" : "",
    },
  ];
}

type Value = Exclude<keyof Point, "at">;

interface Drawn {
  title: string;
  /** Of time, in milliseconds. */
  is_time?: boolean;
  lines: [name: string, tone: string, value: Value][];
}

const charts: Drawn[] = [
  {
    title: "Tasks per second",
    lines: [
      ["enqueued", "quiet", "enqueued_per_s"],
      ["completed", "good", "completed_per_s"],
      ["retried", "warn", "retried_per_s"],
      ["failed", "bad", "failed_per_s"],
    ],
  },
  {
    title: "Time in handlers",
    is_time: true,
    lines: [
      ["50 %", "busy", "p50_ms"],
      ["95 %", "accent", "p95_ms"],
      ["99 %", "warn", "p99_ms"],
    ],
  },
  {
    title: "Time of waiting",
    is_time: true,
    lines: [
      ["50 %", "busy", "wait_p50_ms"],
      ["95 %", "accent", "wait_p95_ms"],
    ],
  },
  {
    title: "Queue depth",
    lines: [
      ["waiting", "accent", "pending"],
      ["blocked", "warn", "blocked"],
    ],
  },
  {
    title: "In flight",
    lines: [
      ["running", "busy", "running"],
      ["workers", "quiet", "workers"],
    ],
  },
];

function Charts({ points, step }: { points: Point[]; step: number }) {
  const { times, of } = useMemo(() => columns_of(points, step), [points, step]);
  return (
    <div class="charts">
      {charts.map(({ title, is_time, lines }) => (
        <Chart
          key={title}
          title={title}
          group="history"
          times={times}
          {...(is_time && { format: duration, steps: round_durations })}
          lines={lines.map(([name, tone, value]) => ({ name, tone, values: of(value) }))}
        />
      ))}
    </div>
  );
}
