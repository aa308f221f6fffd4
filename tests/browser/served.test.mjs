// What pages say of the server and the store that they come from.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { unused_address, until } from "./place.mjs";
import { with_browser } from "./visitor.mjs";

test("a server that only lets look says so", async () => {
  await with_browser(async (place, visitor) => {
    await place.run("task", "add", "one");
    await place.serve("--no-auth", "--read-only");
    const { page } = visitor;
    await visitor.open(place.address, "tasks");
    const button = page.getByRole("button", { name: "Retry all that match" });
    assert.ok(await button.isDisabled());
    assert.match(await button.getAttribute("title"), /--read-only/);
    await page.getByText("(read-only server)").waitFor();
    await visitor.open(place.address, "audit");
    await page.getByText("This server was started with --read-only").waitFor();
    assert.deepEqual(await visitor.barriers(), []);
  });
});

test("an audit log that was found broken is shown", async () => {
  await with_browser(async (place, visitor) => {
    await place.serve("--no-auth");
    const { page } = visitor;
    await visitor.open(place.address, "audit");
    await page.getByText("Nobody has changed anything").waitFor();
    assert.equal(await page.locator(".failure").count(), 0);
    const name = "audit-BROKEN-20260301T120000Z-line-7.jsonl";
    writeFileSync(`${place.file}.holdfast/server/${name}`, "");
    await page.reload();
    await page.getByRole("alert").getByText(name).waitFor();
    assert.deepEqual(await visitor.barriers(), []);
  });
});

test("a store that keeps no batches is not said to lack some", async () => {
  await with_browser(async (place, visitor) => {
    const { host, port } = new URL(await unused_address());
    const safe = ["--appendonly", "yes", "--appendfsync", "always", "--dir", place.folder];
    const redis = place.start_program("redis-server", ["--port", port, ...safe], "ignore");
    await until("Redis to be ready", () => redis.said.includes("Ready to accept connections"));
    await place.run("--store", `redis://${host}`, "task", "add", "one");
    await place.serve("--no-auth", "--store", `redis://${host}`);
    const { page } = visitor;
    await visitor.open(place.address, "batches");
    await page.getByText("use SQLite or PostgreSQL").waitFor();
    assert.equal(await page.getByText("holdfast batch submit").count(), 0);
    assert.equal(await page.locator(".failure").count(), 0);
    assert.deepEqual(await visitor.barriers(), []);
  });
});

test("a value that stands alone is drawn", async () => {
  await with_browser(async (place, visitor) => {
    await place.run("task", "add", "one");
    await place.serve("--no-auth");
    const { page } = visitor;
    // One task in an hour: only one point has a time.
    await page.route("**/v1/metrics/history*", async (route) => {
      const response = await route.fetch();
      const answer = await response.json();
      const [any] = answer.points;
      const now = Date.now();
      const points = Array.from({ length: 60 }, (_, i) => ({
        ...any,
        at: new Date(now - (60 - i) * 60_000).toISOString(),
        p50_ms: i === 30 ? 1_000 : null,
      }));
      await route.fulfill({ response, json: { ...answer, resolution_s: 60, points } });
    });
    await until("a point is kept", async () => {
      const answer = await page.request.get(`${place.address}/v1/metrics/history?seconds=300`);
      return (await answer.json()).points.length > 0;
    });
    await visitor.open(place.address, "?range=1 h");
    const chart = page.locator("figure", { hasText: "Time in handlers" });
    const drawn = () =>
      chart.evaluate((figure) => {
        const wanted = getComputedStyle(figure.querySelector(".chart-key i"))
          .color.match(/\d+/g)
          .map(Number);
        const canvas = figure.querySelector("canvas");
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        let dots = 0;
        for (let i = 0; i < data.length; i += 4)
          dots += wanted.every((part, k) => Math.abs(data[i + k] - part) < 8) && data[i + 3] > 200;
        return dots;
      });
    await until("a point of some size", async () => (await drawn()) >= 9);
  });
});
