import assert from "node:assert/strict";
import { test } from "node:test";
import type { Point } from "../src/api/types";
import { alone, columns_of, joined, range_of } from "../src/history";
import { Pacer, progress } from "../src/pace";
import { timeline } from "../src/timeline";

const begin = Date.parse("2026-03-01T12:00:00Z");

function point(seconds: number, pending = seconds): Point {
  return {
    at: new Date(begin + seconds * 1000).toISOString(),
    pending,
    running: 0,
    blocked: 0,
    held: 0,
    failed: 0,
    workers: 1,
    completed_per_s: 0,
    failed_per_s: 0,
    retried_per_s: 0,
    enqueued_per_s: 0,
    p50_ms: null,
    p95_ms: null,
    p99_ms: null,
    wait_p50_ms: null,
    wait_p95_ms: null,
    recoveries: 0,
    stale_writes_refused: 0,
  };
}

test("where nobody watched the line is interrupted", () => {
  const { times, of } = columns_of([point(0), point(1), point(60), point(61)], 1);
  assert.deepEqual(of("pending"), [0, 1, null, 60, 61]);
  assert.equal(times[2], begin / 1000 + 2);
});

test("values without neighbours are known", () => {
  assert.deepEqual(alone([3, null, 0, null, 5, 6, null, undefined, 7]), [0, 2, 8]);
  assert.deepEqual(alone([1, 2]), []);
});

test("a sample that is a little late interrupts nothing", () => {
  assert.deepEqual(columns_of([point(0), point(3)], 1).of("pending"), [0, 3]);
});

test("live points follow the kept ones, each once", () => {
  const all = joined([point(0), point(1)], [point(1, 99), point(2)], 300, begin + 2000);
  assert.deepEqual(
    all.map((each) => each.pending),
    [0, 1, 2],
  );
  assert.equal(
    joined([point(0), point(10)], [], 5, begin + 12_000).length,
    1,
    "older than the range",
  );
});

test("an unknown range is the first one", () => {
  assert.equal(range_of("2 d").seconds, 172_800);
  assert.equal(range_of("nonsense"), range_of(null));
});

test("the pace of a batch", () => {
  const batch = (success: number) => ({
    id: "a",
    rows: { queued: 90 - success, inprog: 10, success, failed: 5, aborted: 0 },
  });
  const pacer = new Pacer();
  pacer.look(batch(0), begin);
  assert.equal(pacer.pace(batch(0)).per_second, null, "nothing is known in the first moment");
  pacer.look(batch(50), begin + 10_000);
  assert.deepEqual(pacer.pace(batch(50)), { per_second: 5, left_ms: 10_000 });
  pacer.look(batch(50), begin + 45_000);
  pacer.look(batch(50), begin + 50_000);
  assert.deepEqual(pacer.pace(batch(50)), { per_second: 0, left_ms: null }, "it stands still");
  const waiting = new Pacer();
  for (const second of [0, 5, 10, 15, 20]) waiting.look(batch(0), begin + second * 1000);
  waiting.look(batch(12), begin + 23_000);
  assert.equal(waiting.pace(batch(12)).per_second, 4, "the time without workers does not count");
  const aborted = { rows: { queued: 0, inprog: 0, success: 3, failed: 1, aborted: 56 } };
  assert.deepEqual(progress(aborted), { all: 60, done: 4, open: 0 });
});

test("log lines stand between the steps they were written in", () => {
  const step = (
    from: null | "pending" | "running",
    to: "pending" | "running" | "completed",
    at: string,
  ) => ({ from, to, actor: "w", reason: "", token: 1, attempt: 1, at });
  const entries = timeline(
    [
      step(null, "pending", "1"),
      step("pending", "running", "2"),
      step("running", "completed", "4"),
    ],
    [
      { at: "2", attempt: 1, text: "began" },
      { at: "4", attempt: 1, text: "last words" },
    ],
  );
  assert.deepEqual(
    entries.map((each) => (each.what === "step" ? each.step.to : each.line.text)),
    ["pending", "running", "began", "last words", "completed"],
  );
});
