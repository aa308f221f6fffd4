import assert from "node:assert/strict";
import { test } from "node:test";
import { Problem } from "../src/api/client";
import { new_id, schedule_text, task_text } from "../src/new_task";

test("a payload is sent as it was typed", () => {
  const text = task_text({ kind: "mail", payload: '{"n": 12345678901234567890}', queue: "" });
  assert.equal(text, '{"kind":"mail","payload":{"n": 12345678901234567890}}');
});

test("what is left empty is left out", () => {
  const values = { kind: "a", priority: "2", max_attempts: "", delay_s: "1.5", payload: "" };
  assert.deepEqual(JSON.parse(task_text(values)), {
    kind: "a",
    payload: {},
    priority: 2,
    delay_ms: 1500,
  });
});

test("quotes in a name stay in it", () => {
  assert.equal(JSON.parse(task_text({ kind: '","x":"' })).kind, '","x":"');
});

test("a payload that is not JSON is refused before it is sent", () => {
  assert.throws(() => task_text({ kind: "a", payload: '{"a":1},"kind":"b"' }), Problem);
  assert.throws(() => task_text({ kind: "a", payload: "{" }), Problem);
});

test("what is no number is refused before it is sent", () => {
  for (const [name, text] of [
    ["max_attempts", "abc"],
    ["max_attempts", "1.5"],
    ["delay_s", "abc"],
  ] as const)
    assert.throws(() => task_text({ kind: "a", [name]: text }), /no number/);
});

test("ids look like those of the server", () => {
  const now = Date.parse("2026-03-01T12:00:00Z");
  assert.match(new_id(now), /^[0-9A-HJKMNP-TV-Z]{26}$/);
  assert.ok(new_id(now) < new_id(now + 1_000));
  assert.notEqual(new_id(now), new_id(now));
});

test("a schedule has the task in it", () => {
  const text = schedule_text({ name: "nightly", cron: "@daily", zone: "", kind: "clean" });
  assert.deepEqual(JSON.parse(text), {
    name: "nightly",
    cron: "@daily",
    task: { kind: "clean", payload: {} },
  });
});
