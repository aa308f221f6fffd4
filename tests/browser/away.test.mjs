// What a page shows while a store or its server is away.
import { test } from "node:test";
import { unused_address } from "./place.mjs";
import { with_browser } from "./visitor.mjs";

test("a store that is away is named beside the others", async () => {
  await with_browser(async (place, visitor) => {
    const away = (await unused_address()).replace("http:", "redis:");
    const stores = ["--store", `sqlite:${place.file}`, "--store", away];
    const address = await place.serve("--no-auth", ...stores);
    await visitor.open(new URL(address).origin, "");
    await visitor.page.getByText("store 2 is away").waitFor();
    await visitor.open(new URL(address).origin, "?store=2");
    await visitor.page.getByLabel("Health").getByText("The store cannot be asked").waitFor();
  });
});

test("a page shows what it missed while its server was away, by itself", async () => {
  await with_browser(async (place, { page }) => {
    await place.run("task", "add", "seen");
    await place.serve("--no-auth");
    await page.goto(`${place.address}/#/tasks?kind=unseen`);
    await page.getByText("There are no tasks of kind unseen").waitFor();
    await page.getByText("Live", { exact: true }).waitFor();
    await place.stop_server();
    await page.getByText("Connecting…").waitFor();
    await place.run("task", "add", "unseen");
    await place.start_server_again();
    await page.locator("tbody").getByText("unseen").waitFor();
    await page.getByText("Live", { exact: true }).waitFor();
  });
});
