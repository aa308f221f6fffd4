// Many windows of one browser, which has six connections for a server.
import { test } from "node:test";
import { join } from "node:path";
import { until } from "./place.mjs";
import { with_browser } from "./visitor.mjs";

async function see_tasks(pages, number) {
  for (const [i, page] of pages.entries())
    await until(
      `window ${i} sees ${number} tasks`,
      async () => (await page.locator("tbody tr").count()) === number,
    );
}

/** As if another window were put before this one, or taken away again. */
function set_hidden(page, hidden) {
  return page.evaluate((now) => {
    Object.defineProperty(document, "hidden", { value: now, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
}

test("many windows share one connection, and another goes on when its window goes", async () => {
  await with_browser(async (place, visitor) => {
    const add = () => place.run("task", "add", "late");
    await place.run("task", "add", "early");
    await place.serve("--no-auth");
    const pages = [];
    // One after the other, so that they take their turns in this order.
    for (let i = 0; i < 8; ++i) {
      const page = await visitor.listener();
      await page.goto(`${place.address}/#/tasks?kind=late`);
      await page.getByText("There are no tasks of kind late").waitFor();
      await page.getByText("Live", { exact: true }).waitFor();
      pages.push(page);
    }
    await add();
    await see_tasks(pages, 1);

    await pages.shift().close();
    await add();
    await see_tasks(pages, 2);

    const victim = pages.shift();
    const died = victim.waitForEvent("crash");
    const debug = await visitor.context.newCDPSession(victim);
    debug.send("Page.crash").catch(() => undefined);
    await died;
    await add();
    await see_tasks(pages, 3);

    await set_hidden(pages[0], true);
    await add();
    await see_tasks(pages.slice(1), 4);
    await set_hidden(pages[0], false);
    await see_tasks(pages, 4);
    for (const page of pages) await page.getByText("Live", { exact: true }).waitFor();
  });
});

test("windows on many stores leave connections for questions", async () => {
  await with_browser(async (place, visitor) => {
    const stores = [1, 2, 3, 4, 5, 6, 7].map((i) => `sqlite:${join(place.folder, `${i}.db`)}`);
    for (const store of stores) await place.run("--store", store, "task", "add", "one");
    await place.serve("--no-auth", ...stores.flatMap((store) => ["--store", store]));
    const live = [];
    for (let i = 1; i <= stores.length; ++i) {
      const page = await visitor.context.newPage();
      await page.goto(`${place.address}/#/tasks?store=${i}`);
      await page.getByRole("heading", { name: "1 task" }).waitFor();
      if (i <= 3) await page.getByText("Live", { exact: true }).waitFor();
      live.push(page);
    }
    await place.run("--store", stores[6], "task", "add", "two");
    await live[6].getByRole("heading", { name: "2 tasks" }).waitFor();
    await live[0].close();
    await live[3].getByText("Live", { exact: true }).waitFor();
  });
});
