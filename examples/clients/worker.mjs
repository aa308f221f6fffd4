#!/usr/bin/env node
// A worker in JavaScript: counts letters. HOLDFAST_URL: the server; HOLDFAST_TOKEN: one for work.
const { HOLDFAST_URL, HOLDFAST_TOKEN } = process.env;
const url = HOLDFAST_URL.replace(/\/$/, "") + "/v1/remote/workers";
const headers = { Authorization: `Bearer ${HOLDFAST_TOKEN}`, "Content-Type": "application/json" };
const secret_header = "Holdfast-Worker-Secret"; // with everything that this worker says

// Asks again while the server or its store is away: everything can be said twice.
async function ask(what, body) {
  for (;;) {
    const answer = await fetch(url + what, { method: "POST", body: JSON.stringify(body), headers })
      .then(async (got) => ({ status: got.status, text: await got.text() }))
      .catch(() => ({ status: 503 }));
    if (answer.status < 300) return JSON.parse(answer.text || "null");
    if (answer.status !== 503) throw Object.assign(new Error(answer.text), answer);
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

// The work itself. What it returns is kept; throwing means: try again later.
const run = async (task) => ({ letters: task.payload.text.length });

const enlist = () => ask("", { kinds: ["count_js"] });
let me = await enlist();
headers[secret_header] = me.secret;
const holding = new Set();
const beat = () => ask(`/${me.worker}/heartbeat`, { tasks: [...holding] });
setInterval(() => beat().catch(() => null), me.heartbeat_interval_ms); // claiming hears of it, too
process.on("SIGINT", () => ask(`/${me.worker}/retire`, {}).finally(() => process.exit(0)));

async function work(task) {
  holding.add(task.id);
  const end = { id: task.id, token: task.token };
  try {
    Object.assign(end, { outcome: "done", result: await run(task) });
  } catch (error) {
    Object.assign(end, { outcome: "retry", error: String(error) });
  }
  await ask(`/${me.worker}/settle`, { settlements: [end] });
  holding.delete(task.id);
}

for (;;) {
  try {
    const claimed = await ask(`/${me.worker}/claim`, { wait_ms: 20000 });
    for (const task of claimed.tasks) await work(task);
  } catch (error) {
    if (error.status !== 410) throw error;
    holding.clear(); // others have it, after a restart of the server
    me = await enlist();
    headers[secret_header] = me.secret;
  }
}
