import assert from "node:assert/strict";
import { test } from "node:test";
import { pieces, plain } from "../src/text/visible";

test("text without acting characters is one piece", () => {
  assert.deepEqual(pieces("<b>plain</b>\n\tünï 👩‍🚀"), [
    { text: "<b>plain</b>\n\tünï 👩‍🚀", marked: false },
  ]);
});

test("what would act on the page is named instead", () => {
  assert.equal(plain("a\u202egnp.exe"), "a[U+202E]gnp.exe");
  assert.equal(plain("\u0000\u001b[31m\u007f\u0085"), "[U+0000][U+001B][31m[U+007F][U+0085]");
  assert.equal(plain("x\u200by\ufeffz\u2066"), "x[U+200B]y[U+FEFF]z[U+2066]");
  assert.equal(plain("\u{e0041}"), "[U+E0041]");
});

test("half of a surrogate pair is named, a whole one is a character", () => {
  assert.equal(plain("\ud83d"), "[U+D83D]");
  assert.equal(plain("😀"), "😀");
});

test("each acting character is a marked piece of its own", () => {
  assert.deepEqual(pieces("a\u202a\u202bb"), [
    { text: "a", marked: false },
    { text: "U+202A", marked: true },
    { text: "U+202B", marked: true },
    { text: "b", marked: false },
  ]);
});
