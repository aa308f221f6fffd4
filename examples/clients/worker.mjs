#!/usr/bin/env node
// A worker in JavaScript: counts letters. HOLDFAST_URL and HOLDFAST_TOKEN say where 'holdfast
// serve' is.
const url = process.env.HOLDFAST_URL.replace(/\/$/, "");

async function ask(path, body) {
  const answer = await fetch(url + path, {
    method: "POST",
    body: JSON.stringify(body),
    headers: {
      Authorization: `Bearer ${process.env.HOLDFAST_TOKEN}`,
      "Content-Type": "application/json",
    },
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
  return text ? JSON.parse(text) : null;
}

// The work itself. What it returns is kept; throwing means: try again later.
async function run(task) {
  return { letters: task.payload.text.length };
}

const me = await ask("/v1/remote/workers", { kinds: ["count_js"] });
const path = `/v1/remote/workers/${me.worker}`;
const holding = new Set();
setInterval(() => ask(`${path}/heartbeat`, { tasks: [...holding] }), me.heartbeat_interval_ms);
process.on("SIGINT", () => ask(`${path}/retire`, {}).finally(() => process.exit(0)));

for (;;) {
  const { tasks } = await ask(`${path}/claim`, { wait_ms: 20000 });
  for (const task of tasks) {
    holding.add(task.id);
    const end = { id: task.id, token: task.token };
    try {
      Object.assign(end, { outcome: "done", result: await run(task) });
    } catch (error) {
      Object.assign(end, { outcome: "retry", error: String(error) });
    }
    await ask(`${path}/settle`, { settlements: [end] });
    holding.delete(task.id);
  }
}
