import assert from "node:assert/strict";
import { test } from "node:test";
import { ExactNumber, one_line, parse_exact, pretty } from "../src/text/exact_json";

// Node 18 tells a reviver no source text, so the reading of large numbers is tested in a browser.
test("numbers that a double holds stay numbers", () => {
  assert.deepEqual(parse_exact('{"a":0.3333333333333333,"b":1e-05,"c":9007199254740991}'), {
    a: 0.3333333333333333,
    b: 0.00001,
    c: 9007199254740991,
  });
});

test("an exact number is printed as it was written", () => {
  assert.equal(
    pretty({ id: new ExactNumber("12345678901234567890") }),
    '{ "id": 12345678901234567890 }',
  );
});

test("short things stay on one line, long ones are indented", () => {
  assert.equal(pretty([1, 2, { a: null }]), '[1, 2, { "a": null }]');
  assert.equal(pretty({}), "{}");
  const long = pretty({ text: "x".repeat(80), list: [] });
  assert.equal(long, `{\n  "text": "${"x".repeat(80)}",\n  "list": []\n}`);
});

test("one line is cut", () => {
  assert.equal(one_line({ text: "x".repeat(200) }, 20), `{ "text": "xxxxxxxxx…`);
});
