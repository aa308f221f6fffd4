import assert from "node:assert/strict";
import { test } from "node:test";
import { fault_of, filter_from, is_empty, no_filter, query_of, words_of } from "../src/filter";
import { address, parse_route } from "../src/route";
import { count_path, search_path, wanted } from "../src/search";
import { since_time } from "../src/since";

const now = Date.parse("2026-03-01T12:00:00Z");
const full = {
  states: ["failed", "held"] as ("failed" | "held")[],
  no_states: [],
  id: "",
  kind: "mail & more",
  queue: "a/b?c",
  tag: "ü#1",
  priority: "2",
  since: "2h",
  error: "time out=%",
  field: "customer.id",
  value: "7",
};

test("a filter comes back from its address as it was", () => {
  const link = address("tasks", "", query_of(full));
  const route = parse_route(link);
  assert.equal(route.page, "tasks");
  assert.deepEqual(filter_from(route.query), full);
  assert.deepEqual(filter_from(query_of(no_filter)), no_filter);
  assert.ok(is_empty(filter_from(new URLSearchParams())));
});

test("states may be repeated or listed, and what is none of them is a fault", () => {
  const query = new URLSearchParams("state=held&state=failed,dancing");
  const filter = filter_from(query);
  assert.deepEqual(filter.states, ["failed", "held"]);
  assert.match(fault_of(filter), /dancing/);
  assert.equal(query_of(filter).get("state"), "failed,held,dancing");
});

test("a part that cannot be understood is a fault, never left out", () => {
  assert.equal(fault_of(full), "");
  assert.equal(fault_of(no_filter), "");
  for (const since of ["soon", "10sec", "90min", "yesterday", "1h30", "yesterday 7", "2h!"])
    assert.match(fault_of({ ...no_filter, since }), /Created since/, since);
  assert.match(fault_of({ ...no_filter, value: "7" }), /payload field/);
  assert.match(fault_of({ ...no_filter, priority: "9" }), /1 to 5/);
});

test("ids in addresses may have any character", () => {
  const id = "a/b?c#d %41";
  assert.equal(parse_route(address("transactions", id)).id, id);
  assert.equal(parse_route("#/tasks/%zz").id, "%zz");
});

test("a filter in words", () => {
  assert.equal(words_of(no_filter), "all tasks");
  assert.equal(
    words_of({ ...no_filter, states: ["failed", "held"], kind: "mail" }),
    "tasks that are failed or held, of kind mail",
  );
});

test("times ago become times", () => {
  assert.equal(since_time("2h", now), "2026-03-01T10:00:00.000Z");
  assert.equal(since_time("2026-02-28", now), "2026-02-28T00:00:00.000Z");
  assert.equal(since_time("1h30m", now), "2026-03-01T10:30:00.000Z");
  assert.equal(since_time("250ms", now), "2026-03-01T11:59:59.750Z");
  assert.equal(since_time("2026-02-28T01:00+01:00", now), "2026-02-28T00:00:00.000Z");
  assert.equal(since_time("soon", now), "");
});

test("what the API is asked for", () => {
  const search = new URL(search_path(full, "next", 50, now), "http://x");
  assert.deepEqual(search.searchParams.getAll("state"), ["failed", "held"]);
  assert.equal(search.searchParams.get("kind"), "mail & more");
  assert.equal(search.searchParams.get("payload_field"), "customer.id");
  assert.equal(search.searchParams.get("payload_value"), "7");
  assert.equal(search.searchParams.get("cursor"), "next");
  assert.equal(wanted(full, now).payload_field, "customer.id", "actions take the same filter");
  assert.equal(wanted(full, now).error, "time out=%");
  assert.equal(count_path(full, now), "", "what needs a look into every task is not counted");
  assert.equal(
    count_path({ ...no_filter, states: ["failed"] }, now),
    "/v1/tasks/count?state=failed",
  );
});
