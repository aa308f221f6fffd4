import assert from "node:assert/strict";
import { test } from "node:test";
import { Problem } from "../src/api/client";
import { new_token } from "../src/new_token";

const now = Date.parse("2026-03-01T12:00:00Z");

test("a token has the names that were typed", () => {
  const typed = { name: "orders", scopes: "enqueue, metrics", queues: "a b", kinds: "", days: "1" };
  assert.deepEqual(new_token(typed, now), {
    name: "orders",
    scopes: ["enqueue", "metrics"],
    queues: ["a", "b"],
    kinds: [],
    quota_per_minute: null,
    quota_waiting: null,
    expires: "2026-03-02T12:00:00.000Z",
  });
});

test("a token without days does not expire", () => {
  assert.equal(new_token({ name: "a", scopes: "work", days: "" }, now)["expires"], null);
});

test("a token has the quotas that were typed", () => {
  const typed = { name: "a", scopes: "enqueue", quota_per_minute: "600", quota_waiting: "" };
  const token = new_token(typed, now);
  assert.equal(token["quota_per_minute"], 600);
  assert.equal(token["quota_waiting"], null);
  for (const quota of ["many", "-1", "1.5"])
    assert.throws(() => new_token({ ...typed, quota_waiting: quota }, now), Problem);
});

test("days that are not a number are refused before they are sent", () => {
  for (const days of ["soon", "-1", "1.5", "99999"])
    assert.throws(() => new_token({ name: "a", scopes: "work", days }, now), Problem);
});
