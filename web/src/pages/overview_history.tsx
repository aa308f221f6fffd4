import { useEffect, useMemo, useState } from "preact/hooks";
import { in_store } from "../api/client";
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
import { compact, duration } from "../text/format";

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

function Charts({ points, step }: { points: Point[]; step: number }) {
  const { times, of } = useMemo(() => columns_of(points, step), [points, step]);
  const group = "history";
  return (
    <div class="charts">
      <Chart
        title="Tasks per second"
        group={group}
        times={times}
        lines={[
          { name: "enqueued", tone: "quiet", values: of("enqueued_per_s") },
          { name: "completed", tone: "good", values: of("completed_per_s") },
          { name: "failed", tone: "bad", values: of("failed_per_s") },
        ]}
      />
      <Chart
        title="Time from claim to end"
        group={group}
        times={times}
        format={duration}
        lines={[
          { name: "50 %", tone: "busy", values: of("p50_ms") },
          { name: "95 %", tone: "accent", values: of("p95_ms") },
          { name: "99 %", tone: "warn", values: of("p99_ms") },
        ]}
      />
      <Chart
        title="Queue depth"
        group={group}
        times={times}
        lines={[
          { name: "waiting", tone: "accent", values: of("pending") },
          { name: "blocked", tone: "warn", values: of("blocked") },
        ]}
      />
      <Chart
        title="In flight"
        group={group}
        times={times}
        lines={[
          { name: "running", tone: "busy", values: of("running") },
          { name: "workers", tone: "quiet", values: of("workers") },
        ]}
      />
    </div>
  );
}
