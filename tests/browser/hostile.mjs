// What somebody might put into a payload to harm who looks at it.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const harm = "window.harmed=1";

export const hostile_texts = [
  { name: "script", value: `<script>${harm}</script>`, shown: `<script>${harm}</script>` },
  { name: "image", value: `"><img src=x onerror="${harm}">`, shown: "<img src=x onerror=" },
  { name: "link", value: `<a href="javascript:${harm}">x</a>`, shown: "javascript:" },
  { name: "svg", value: `<svg/onload=${harm}>{{7*7}}`, shown: "<svg/onload=" },
  {
    name: "right to left",
    value: "invoice\u202efdp.exe\u2066",
    shown: "invoiceU+202Efdp.exeU+2066",
  },
  {
    name: "control characters",
    value: "\u001b[31m\u0007\u0000red",
    shown: "\\u001b[31m\\u0007\\u0000red",
  },
  { name: "large", value: "x".repeat(10_000_000), shown: "xxxx" },
];

/** More than a double can hold. */
export const large_number = "12345678901234567890";

/** Ways to get a script to run that are known from elsewhere, and texts that confuse readers. */
export const corpus = JSON.parse(
  readFileSync(new URL("hostile_corpus.json", import.meta.url), "utf8"),
);

/** Enqueues each in the payload of a task, and all of them in one more; answers the ids. */
export async function store_corpus(place) {
  const lines = [...corpus.map((text) => ({ [text]: text })), { all: corpus }];
  const text = lines.map((line) => JSON.stringify(line)).join("\n");
  writeFileSync(join(place.folder, "corpus.jsonl"), text + "\n");
  const where = ["--queue", "night", "--file", "corpus.jsonl"];
  return (await place.run("task", "add", "corpus", ...where)).split("\n");
}

/** Enqueues each as the payload of a task; answers their ids in the same order. */
export async function store_hostile(place) {
  const config = join(place.folder, "large.yaml");
  writeFileSync(config, "queue:\n  limits:\n    payloadBytes: 100000000\n");
  const lines = hostile_texts.map(({ value }) => {
    const text = JSON.stringify(value);
    return `{"number": ${large_number}, ${JSON.stringify(value.slice(0, 40))}: ${text}}`;
  });
  writeFileSync(join(place.folder, "hostile.jsonl"), lines.join("\n") + "\n");
  const ids = await place.run(
    "--config",
    config,
    "task",
    "add",
    "hostile",
    "--queue",
    "night",
    "--file",
    "hostile.jsonl",
  );
  return ids.split("\n");
}
