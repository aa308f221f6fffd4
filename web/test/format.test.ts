import assert from "node:assert/strict";
import { test } from "node:test";
import {
  age,
  bytes,
  clock,
  compact,
  count,
  duration,
  round_durations,
  percent,
  plural,
  short_id,
  time_labels,
} from "../src/text/format";

test("numbers", () => {
  assert.equal(count(1234567), "1,234,567");
  assert.equal(compact(0), "0");
  assert.equal(compact(0.125), "0.13");
  assert.equal(compact(9999), "9,999");
  assert.equal(compact(12345), "12.3k");
  assert.equal(compact(100_000), "100k");
  assert.equal(compact(2_500_000), "2.5M");
  assert.equal(plural(1, "task"), "1 task");
  assert.equal(plural(2000, "batch", "batches"), "2,000 batches");
  assert.equal(percent(0.5), "50 %");
  assert.equal(percent(1), "100 %");
});

test("round durations are written with one unit", () => {
  for (const step of round_durations) assert.match(duration(step), /^[\d.]+ \w+$/);
});

test("durations have the two units that matter", () => {
  assert.equal(duration(0), "0 ms");
  assert.equal(duration(640), "640 ms");
  assert.equal(duration(4200), "4.2 s");
  assert.equal(duration(200_000), "3 min 20 s");
  assert.equal(duration(7_500_000), "2 h 5 min");
  assert.equal(duration(273_600_000), "3 d 4 h");
});

test("ages look both ways", () => {
  const now = Date.parse("2026-03-01T12:00:00Z");
  assert.equal(age(now - 400, now), "now");
  assert.equal(age(now - 4_000, now), "4 s ago");
  assert.equal(age(now + 150_000, now), "in 2 min");
  assert.equal(age(now - 3 * 86_400_000, now), "3 d ago");
});

test("bytes", () => {
  assert.equal(bytes(999), "999 B");
  assert.equal(bytes(10_485_760), "10.5 MB");
});

test("a time has its date unless it is today", () => {
  const now = new Date(2026, 2, 1, 12, 0, 0).getTime();
  assert.equal(clock(new Date(2026, 2, 1, 9, 5, 4, 7).getTime(), now), "09:05:04.007");
  assert.equal(clock(new Date(2026, 1, 28, 23, 0, 0).getTime(), now, false), "2026-02-28 23:00:00");
});

test("an axis says as much of a time as tells it from its neighbours", () => {
  const at = (hour: number, minute: number, second = 0) =>
    new Date(2026, 2, 1, hour, minute, second).getTime() / 1000;
  assert.deepEqual(time_labels([at(9, 5), at(9, 5, 30)]), ["09:05:00", "09:05:30"]);
  assert.deepEqual(time_labels([at(9, 5), at(9, 10)]), ["09:05", "09:10"]);
  assert.deepEqual(time_labels([at(-12, 0), at(0, 0), at(12, 0)]), ["12:00", "03-01", "12:00"]);
});

test("ids keep both ends", () => {
  assert.equal(short_id("01KA4ZJ6E8K4Q7T0V2N9XW3YBC"), "01KA…XW3YBC");
  assert.equal(short_id("nightly"), "nightly");
});
