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
    expires: "2026-03-02T12:00:00.000Z",
  });
});

test("a token without days does not expire", () => {
  assert.equal(new_token({ name: "a", scopes: "work", days: "" }, now)["expires"], null);
});

test("days that are not a number are refused before they are sent", () => {
  for (const days of ["soon", "-1", "1.5", "99999"])
    assert.throws(() => new_token({ name: "a", scopes: "work", days }, now), Problem);
});
