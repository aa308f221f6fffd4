// Real data for every page: made by the program itself, not written into the store behind its back.
import { createServer } from "node:http";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "./place.mjs";

// What the workers run: the kind decides.
const script = `#!/bin/sh
case "$HOLDFAST_KIND" in
  patient)
    echo "waiting for $PWD/go"
    while [ ! -e go ]; do sleep 0.05; done
    echo '{"waited":true}' ;;
  broken) echo "connection to smtp.example.org refused" >&2; exit 65 ;;
  *) echo "resized"; echo '{"width":640,"height":480}' ;;
esac
`;

export function write_script(place) {
  const path = join(place.folder, "work.sh");
  writeFileSync(path, script, { mode: 0o755 });
  return path;
}

export function start_worker(place, ...kinds) {
  const options = kinds.flatMap((kind) => ["--kind", kind]);
  return place.start("worker", "run", ...options, "--concurrency", "4", "--", write_script(place));
}

async function fill_tasks(place) {
  await place.run(
    "task",
    "add",
    "resize",
    '{"image":"cat.png"}',
    "--count",
    "120",
    "--tag",
    "upload",
  );
  await place.run(
    "task",
    "add",
    "broken",
    '{"to":"ada@example.org"}',
    "--count",
    "6",
    "--queue",
    "mail",
  );
  const [waited_for] = (await place.run("task", "add", "import", "--queue", "night")).split("\n");
  await place.run("task", "add", "publish", "--after", waited_for, "--queue", "night");
  await place.run("queue", "pause", "night");
  await place.run(
    "schedule",
    "add",
    "nightly",
    "30 2 * * mon-fri",
    "clean_up",
    "--zone",
    "Europe/Berlin",
  );
  await place.run("schedule", "add", "hourly", "@hourly", "report");
  await place.run("schedule", "pause", "hourly");
  await place.run("limit", "set", "queue", "mail", "--max-running", "10");
  await place.run(
    "limit",
    "set",
    "key",
    "*",
    "--max-running",
    "2",
    "--rate",
    "100/1m",
    "--burst",
    "20",
  );
  await until("the tasks to be done", async () =>
    (await place.json("queue", "status"))[0].queues
      .filter((queue) => ["default", "mail"].includes(queue.queue))
      .every((queue) => queue.counts.pending + queue.counts.running === 0),
  );
}

async function fill_batches(place) {
  const rows = Array.from({ length: 60 }, (_, i) =>
    JSON.stringify({ sku: `A-${i}`, price: 10 + i }),
  );
  writeFileSync(join(place.folder, "rows.jsonl"), rows.join("\n") + "\n");
  writeFileSync(
    join(place.folder, "price.sh"),
    `#!/bin/sh
while read -r row; do
  case "$row" in
    *'"price":13'*) echo '{"status":"failed","messages":["the price is unlucky"]}' ;;
    *) echo '{"status":"success","result":{"ok":true},"output":{"prices":"ok"}}' ;;
  esac
done
`,
    { mode: 0o755 },
  );
  await place.run("batch", "submit", "rows.jsonl", "--app", "shop", "--op", "prices");
  await place.run("batch", "submit", "rows.jsonl", "--app", "shop", "--op", "later", "--wait");
  await place.run(
    "batch",
    "run",
    "--app",
    "shop",
    "--op",
    "prices",
    "--exec",
    "./price.sh",
    "--concurrency",
    "2",
    "--until-empty",
  );
}

async function fill_http(place) {
  const server = createServer((request, response) => {
    response.statusCode = request.url === "/broken" ? 503 : request.url === "/none" ? 404 : 200;
    response.end("{}");
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const address = `http://127.0.0.1:${server.address().port}`;
  for (const path of ["/orders", "/orders", "/orders", "/none", "/broken"])
    await place.run("http", "get", address + path, "--attempts", "1");
  await place.run("http", "run", "--allow-private", "--until-empty");
  server.close();
}

/** A result of which parts are missing: they never come. */
async function fill_transactions(place) {
  mkdirSync(join(place.folder, "parts"));
  const collector = place.start(
    "results",
    "run",
    "--blobs",
    `dir:${place.folder}/parts`,
    "--request-queue",
    "producer",
    "--notify-queue",
    "finished",
  );
  await place.run("tx", "start", "results", '{"rule":7}', "--id", "scan-17");
  const seen = async () => (await place.json("tx", "show", "scan-17"))[0];
  await until(
    "the collector to wait for parts",
    async () => (await seen()).state === "awaiting_results",
  );
  const header = {
    type: "header",
    transactionId: "scan-17",
    series: [{ name: "Files", count: 12 }],
  };
  const part = (ordinal) => ({
    type: "payload",
    transactionId: "scan-17",
    series: "Files",
    ordinal,
  });
  const lines = [`transaction-scan-17-header\t${JSON.stringify(header)}`];
  for (const ordinal of [1, 2, 4, 5, 6, 11])
    lines.push(`transaction-scan-17-payload\t${JSON.stringify(part(ordinal))}\\npart ${ordinal}`);
  await place.feed(lines.join("\n") + "\n", process.env.HOLDFAST_PRODUCER, `sqlite:${place.file}`);
  await until("six parts", async () => (await seen()).ledger.length === 6);
  collector.kill("SIGTERM");
}

export async function fill(place) {
  start_worker(place, "resize", "broken");
  await fill_tasks(place);
  await fill_batches(place);
  await fill_http(place);
  await fill_transactions(place);
}
