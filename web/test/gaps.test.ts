import assert from "node:assert/strict";
import { test } from "node:test";
import { draw_series, how_many, parse_gaps } from "../src/gaps";

test("gaps are read as the API writes them", () => {
  assert.deepEqual(parse_gaps("3, 7-9"), [
    { first: 3, last: 3 },
    { first: 7, last: 9 },
  ]);
  assert.deepEqual(parse_gaps(""), []);
  assert.equal(how_many(parse_gaps("3, 7-9")), 4);
});

test("a short series has a cell for each part", () => {
  const cells = draw_series(5, parse_gaps("2, 4-5"));
  assert.deepEqual(
    cells.map((cell) => cell.missing),
    [0, 1, 0, 1, 1],
  );
  assert.deepEqual(
    cells.map((cell) => cell.first),
    [1, 2, 3, 4, 5],
  );
});

test("in a long series no missing part is lost", () => {
  const gaps = parse_gaps("1, 499999-500001, 1000000");
  const cells = draw_series(1_000_000, gaps, 1, 100);
  assert.equal(cells.length, 100);
  assert.equal(cells[0]!.first, 1);
  assert.equal(cells.at(-1)!.last, 1_000_000);
  assert.equal(
    cells.reduce((sum, cell) => sum + cell.missing, 0),
    5,
  );
  cells.slice(1).forEach((cell, i) => assert.equal(cell.first, cells[i]!.last + 1));
});

test("nothing expected is nothing drawn", () => {
  assert.deepEqual(draw_series(0, []), []);
});
