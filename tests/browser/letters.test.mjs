// Messages that were rejected, on the page of transactions.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "./place.mjs";
import { with_browser } from "./visitor.mjs";

test("dead letters are shown, replayed and discarded from the page, after a question", async () => {
  await with_browser(async (place, visitor) => {
    const { page } = visitor;
    const results = ["--blobs", `dir:${join(place.folder, "parts")}`];
    const queues = ["--request-queue", "producer", "--notify-queue", "finished"];
    await place.run("tx", "start", "results", "{}", "--id", "scan");
    const collector = place.start("results", "run", ...results, ...queues);
    const shown = async () => (await place.json("tx", "show", "scan"))[0];
    await until("the result to wait", async () => (await shown()).state === "awaiting_results");
    // None of them is what its envelope says.
    const file = join(place.folder, "part");
    for (const bytes of ["<b>one</b>", "two", "three"]) {
      const part = { type: "payload", transactionId: "scan", series: "Files", ordinal: 1 };
      writeFileSync(file, `${JSON.stringify({ ...part, sha256: "0".repeat(64) })}\n${bytes}`);
      await place.run("results", "send", "--queue", "transaction-scan-payload", file);
    }
    await place.serve("--no-auth");
    await visitor.open(place.address, "transactions");
    await until("the dead letters", async () => {
      await page.getByRole("button", { name: "Look again" }).click();
      return await page.getByRole("heading", { name: "3 dead letters" }).isVisible();
    });
    const rows = page.locator(".table[aria-label='Dead letters'] tbody tr");
    await rows.first().getByText("was to be 0000").waitFor();
    const table = page.locator(".table[aria-label='Dead letters']");
    const beyond = await table.evaluate((each) => each.scrollWidth - each.clientWidth);
    assert.equal(beyond, 0, "its buttons are seen without scrolling");

    await rows.first().getByRole("button", { name: "Show dead letter" }).click();
    await page.getByLabel("Body").getByText("<b>one</b>").waitFor();
    assert.match(page.url(), /letter=/);

    const dialog = page.getByRole("dialog");
    await rows.first().getByRole("button", { name: "Discard dead letter" }).click();
    await dialog.getByRole("button", { name: "Leave as it is" }).click();
    const left = async () => await place.json("results", "dead-letters", "list");
    assert.equal((await left()).length, 3, "nothing is done without a yes");
    await rows.first().getByRole("button", { name: "Discard dead letter" }).click();
    await dialog.getByRole("button", { name: "Discard" }).click();
    await dialog.getByText("1 dead letter discarded.").waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();
    await page.getByRole("heading", { name: "2 dead letters" }).waitFor();
    assert.equal((await left()).length, 2);

    collector.kill("SIGKILL"); // it would reject the message again
    await rows.first().getByRole("button", { name: "Replay dead letter" }).click();
    await dialog.getByRole("button", { name: "Replay" }).click();
    await dialog.getByText("1 dead letter replayed.").waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();
    await page.getByRole("heading", { name: "1 dead letter" }).waitFor();
    assert.equal((await left()).length, 1);
    assert.match(await place.run("results", "receive", "transaction-scan-payload"), /two$/);
    assert.deepEqual(await visitor.barriers(), []);
    assert.deepEqual(await visitor.trouble(), []);
  });
});
