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

test("tokens are made and revoked from the page, and their secret is shown once", async () => {
  await with_browser(async (place, visitor) => {
    await place.run("task", "add", "first");
    await place.serve("--no-auth");
    const { page } = visitor;
    await visitor.open(place.address, "tokens");
    await page.getByText("Add a token").click();
    const form = page.getByRole("form", { name: "Add a token" });
    await form.getByLabel("Name").fill("orders");
    await form.getByLabel("Scopes").fill("everything");
    await form.getByRole("button", { name: "Add" }).click();
    await form.getByText("unknown scope 'everything'").waitFor();
    await form.getByLabel("Scopes").fill("enqueue, metrics");
    await form.getByLabel("Kinds").fill("mail.*");
    await form.getByRole("button", { name: "Add" }).click();
    const said = await form.getByText(/hf_[0-9a-f]{64}/).textContent();
    const secret = said.match(/hf_[0-9a-f]{64}/)[0];
    const row = page.getByRole("row").filter({ hasText: "orders" });
    await row.getByText("active").waitFor();
    assert.equal(await row.getByText("hf_").count(), 0);
    const [listed] = await place.json("token", "list");
    assert.deepEqual(listed.scopes, ["metrics", "enqueue"]);
    assert.ok(!JSON.stringify(listed).includes(secret));
    await row.getByRole("button", { name: "Revoke token orders" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByText("Token orders is revoked.").waitFor();
    assert.equal((await place.json("token", "list"))[0].state, "revoked");
    await visitor.open(place.address, "audit");
    await page.getByText("/v1/tokens/orders/revoke").waitFor();
    assert.equal(await page.getByText(secret).count(), 0);
    assert.deepEqual(await visitor.barriers(), []);
  });
});
