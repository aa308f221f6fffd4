// What people type into the pages to make something new.
import assert from "node:assert/strict";
import { test } from "node:test";
import { large_number } from "./hostile.mjs";
import { with_browser } from "./visitor.mjs";

test("tasks are made from the page", async () => {
  await with_browser(async (place, visitor) => {
    await place.run("task", "add", "first");
    await place.serve("--no-auth");
    const { page } = visitor;
    await visitor.open(place.address, "tasks");
    await page.getByText("Enqueue a task").click();
    const task = page.getByRole("form", { name: "Enqueue a task" });
    await task.getByLabel("Kind").fill("typed");
    await task.getByLabel("Payload").fill('{"n": 12345678901234567890');
    await task.getByRole("button", { name: "Enqueue" }).click();
    await task.getByText("The payload is not JSON").waitFor();
    await task.getByLabel("Payload").fill('{"n": 12345678901234567890}');
    await task.getByRole("button", { name: "Enqueue" }).click();
    await task.getByText("is enqueued").waitFor();
    const [made] = await place.json("task", "list", "--kind", "typed");
    assert.ok((await place.run("--json", "task", "show", made.id)).includes(large_number));

    await task.getByLabel("Most attempts").fill("abc");
    await task.getByRole("button", { name: "Enqueue" }).click();
    await task.getByText("is “abc”, which is no number").waitFor();
    await task.getByLabel("Most attempts").fill("");
    await task.getByLabel("Unique key").fill("only-one");
    await task.getByRole("button", { name: "Enqueue" }).click();
    await task.getByText("is enqueued").waitFor();
    await task.getByRole("button", { name: "Enqueue" }).click();
    await task.getByText("Nothing was enqueued").waitFor();
    assert.equal((await place.json("task", "list", "--kind", "typed")).length, 2);
  });
});

test("schedules are made from the page, and none is replaced", async () => {
  await with_browser(async (place, visitor) => {
    await place.run("task", "add", "first");
    await place.serve("--no-auth");
    const { page } = visitor;
    await visitor.open(place.address, "schedules");
    await page.getByText("Add a schedule").click();
    const schedule = page.getByRole("form", { name: "Add a schedule" });
    await schedule.getByLabel("Name").fill("from-the-page");
    await schedule.getByLabel("Times", { exact: true }).fill("never");
    await schedule.getByLabel("Kind").fill("clean");
    await schedule.getByRole("button", { name: "Add" }).click();
    await schedule.locator(".failed").waitFor();
    await schedule.getByLabel("Times", { exact: true }).fill("@daily");
    await schedule.getByRole("button", { name: "Add" }).click();
    await schedule.getByText("is added").waitFor();
    await page.getByRole("table").getByText("from-the-page").waitFor();
    await schedule.getByLabel("Times", { exact: true }).fill("@weekly");
    await schedule.getByRole("button", { name: "Add" }).click();
    await schedule.getByText("There is a schedule from-the-page already").waitFor();
    const [kept] = await place.json("schedule", "list");
    assert.equal(kept.cron, "@daily", "nothing is replaced without a question");
    assert.deepEqual(await visitor.barriers(), []);
  });
});
