// The dashboard in a real browser, on a real server with real workers.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fill, start_worker } from "./fill.mjs";
import { corpus, hostile_texts, large_number, store_corpus, store_hostile } from "./hostile.mjs";
import { Place, until, unused_address } from "./place.mjs";
import { launch, Visitor } from "./visitor.mjs";

const shots = process.env.SCREENSHOTS;

describe("the dashboard", () => {
  const place = new Place();
  let browser;
  let operator;

  before(async () => {
    const users = join(place.folder, "users");
    await place.run("task", "add", "first", "--queue", "start");
    await place.add_user(users, "vera", "viewer");
    const link = await place.serve("--users", users);
    browser = await launch();
    operator = await Visitor.come(browser);
    await operator.page.goto(link);
    await operator.page.getByRole("heading", { name: "Overview" }).waitFor();
  });

  after(async () => {
    await browser?.close();
    await place.clean_up();
  });

  test("a task runs, its worker dies, and recovery follows, all seen live", async () => {
    const { page } = operator;
    const watcher = await operator.listener();
    await watcher.goto(`${place.address}/#/recoveries`);
    await watcher.getByText("No recovery has had anything to do").waitFor();

    const worker = start_worker(place, "patient");
    const id = await place.run("task", "add", "patient");
    await page.goto(`${place.address}/#/tasks/${id}`);
    const state = page.locator(".lead .state");
    await state.getByText("running").waitFor();
    await page.locator(".timeline").getByText("waiting for").waitFor();

    worker.kill("SIGKILL");
    await watcher.locator(".report").getByText("1 run again").waitFor();
    await watcher.locator(".report").getByText(`process ${worker.pid} on`).waitFor();
    await page.locator(".timeline").getByText("system/recovery").waitFor();

    start_worker(place, "patient");
    writeFileSync(join(place.folder, "go"), "");
    await state.getByText("completed").waitFor();
    await watcher.close();
  });

  test("a link with a filter shows what it says, and the filter is in the address", async () => {
    await fill(place);
    const { page } = operator;
    await operator.open(place.address, "tasks?state=failed&kind=broken");
    await page.getByRole("heading", { name: "6 tasks" }).waitFor();
    const states = await page.locator("td .state").allTextContents();
    assert.deepEqual(states, Array(6).fill("failed"));
    const chip = page.getByRole("group", { name: "State" }).getByRole("button", { name: "failed" });
    assert.equal(await chip.getAttribute("aria-pressed"), "true");

    await chip.click();
    await page.getByRole("form", { name: "Filter of tasks" }).getByLabel("Kind").fill("resize");
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    await page.getByRole("heading", { name: "120 tasks" }).waitFor();
    assert.match(page.url(), /#\/tasks\?kind=resize$/);
    await page.getByRole("button", { name: "Next page" }).click();
    await until("the second page", () => /cursor=/.test(page.url()));
    await page.goBack();
    await until("the first page", () => !/cursor=/.test(page.url()));

    await operator.open(place.address, "tasks?field=to&value=ada@example.org");
    await until(
      "the search in payloads",
      async () => (await page.locator("tbody tr").count()) === 6,
    );
  });

  test("dead letters are retried from the page, one and all, after a question", async () => {
    const { page } = operator;
    const waiting = async () =>
      (await place.json("task", "list", "--status", "pending", "--kind", "broken")).length;
    await place.run("queue", "pause", "mail");
    await operator.open(place.address, "tasks?state=failed&kind=broken");
    await page.locator("tbody a").first().click();
    await page.getByRole("button", { name: "Retry" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Leave as it is" }).click();
    assert.equal(await waiting(), 0, "nothing is done without a yes");

    await page.getByRole("button", { name: "Retry" }).click();
    await dialog.getByRole("button", { name: "Retry" }).click();
    await dialog.getByText("The task will run again.").waitFor();
    assert.equal(await waiting(), 1);
    await dialog.getByRole("button", { name: "Close" }).click();

    await operator.open(place.address, "tasks?state=failed&kind=broken");
    await page.getByRole("button", { name: "Retry all that match" }).click();
    await dialog.getByText("that are failed, of kind broken").waitFor();
    await dialog.getByRole("button", { name: "Retry", exact: true }).click();
    await dialog.getByText("5 tasks will run again.").waitFor();
    assert.equal(await waiting(), 6);
    await page.keyboard.press("Escape");

    await operator.open(place.address, "");
    await page.getByRole("button", { name: "Resume queue mail" }).click();
    await dialog.getByRole("button", { name: "Resume" }).click();
    await dialog.getByText("running again").waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();
    await until(
      "the dead letters are back",
      async () =>
        (await place.json("task", "list", "--status", "failed", "--kind", "broken")).length === 6,
    );
  });

  test("a viewer looks and changes nothing", async () => {
    const viewer = await Visitor.come(browser);
    const { page } = viewer;
    await page.goto(`${place.address}/#/tasks?state=failed`);
    await page.getByRole("heading", { name: "Sign in to Holdfast" }).waitFor();
    assert.deepEqual(await viewer.barriers(), []);
    await page.getByLabel("User").fill("vera");
    await page.getByLabel("Password").fill("wrong");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("alert").getByText(/\w/).waitFor();
    await page.getByLabel("Password").fill(place.password);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("heading", { name: "Tasks", exact: true }).waitFor();
    await page.locator("tbody tr").first().waitFor();
    assert.ok(await page.getByRole("button", { name: "Retry all that match" }).isDisabled());

    const status = await page.evaluate(async () => {
      const { csrf } = await (await fetch("/v1/session")).json();
      const answer = await fetch("/v1/tasks/retry", {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf },
        body: '{"all":true}',
      });
      return answer.status;
    });
    assert.equal(status, 403);
    await viewer.open(place.address, "audit");
    await page.getByText("needs the role admin").waitFor();
    await viewer.open(place.address, "tokens");
    await page.getByText("Tokens cannot be seen here").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in to Holdfast" }).waitFor();
    assert.deepEqual(await viewer.trouble(), []);
    await viewer.context.close();
  });

  const pages = [
    ["overview", "", "Queues"],
    ["tasks", "tasks", "resize"],
    [
      "task",
      async () => `tasks/${(await place.json("task", "list", "--kind", "broken"))[0].id}`,
      "smtp",
    ],
    ["workers", "workers", "How we know"],
    ["recoveries", "recoveries", "run again"],
    ["http", "http", "503"],
    ["batches", "batches", "prices"],
    [
      "batch",
      async () => `batches/${(await place.json("batch", "list", "--op", "prices"))[0].id}`,
      "unlucky",
    ],
    ["transactions", "transactions", "scan-17"],
    ["transaction", "transactions/scan-17", "missing 6: 3, 7-10, 12"],
    ["schedules", "schedules", "nightly"],
    ["settings", "settings", "maxRecoveryAttempts"],
    ["tokens", "tokens", "Tokens of programs"],
    ["audit", "audit", "/v1/tasks/retry"],
  ];

  async function open([, hash, content]) {
    await operator.open(place.address, typeof hash === "string" ? hash : await hash());
    await operator.page.locator("main").getByText(content).first().waitFor();
  }

  for (const colours of ["light", "dark"])
    test(`every page is whole and usable by everybody, ${colours}`, async () => {
      const { page } = operator;
      mkdirSync(shots, { recursive: true });
      await page.emulateMedia({ colorScheme: colours });
      for (const each of pages) {
        const [name] = each;
        await open(each);
        await page.evaluate(() => window.scrollTo(0, 0));
        await page.screenshot({ path: join(shots, `${name}-${colours}.png`) });
        // The structure is the same in the dark, so that only the contrast is looked at again.
        const rules = colours === "dark" ? ["color-contrast"] : undefined;
        assert.deepEqual(await operator.barriers(rules), [], `${name} in ${colours}`);
        assert.equal(await page.locator(".failure").count(), 0, `${name} shows a failure`);
      }
      assert.deepEqual(await operator.trouble(), []);
    });

  test("the keyboard is enough, and the colours can be chosen", async () => {
    const { page } = operator;
    await page.goto(`${place.address}/?fresh#/`);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "main");
    const colours = page.getByRole("button", { name: "Colours" });
    await colours.press("Enter");
    assert.equal(await page.locator("html").getAttribute("data-theme"), "light");
    await colours.press("Enter");
    await page.reload();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    assert.equal(await page.locator("html").getAttribute("data-theme"), "dark");
  });

  test("it works on a phone", async () => {
    const { page } = operator;
    await page.setViewportSize({ width: 390, height: 844 });
    for (const each of pages) {
      const [name] = each;
      await open(each);
      const [width, window_width] = await page.evaluate(() => [
        document.documentElement.scrollWidth,
        innerWidth,
      ]);
      assert.ok(width <= window_width, `${name} is ${width} wide in a window of ${window_width}`);
      if (name === "tasks") await page.screenshot({ path: join(shots, "tasks-phone.png") });
    }
  });

  test("hostile texts are shown as texts", async () => {
    const { page } = operator;
    const ids = await store_hostile(place);
    await operator.open(place.address, "tasks?kind=hostile");
    await until(
      "the hostile tasks",
      async () => (await page.locator("tbody tr").count()) === ids.length,
    );
    for (const [i, id] of ids.entries()) {
      await operator.open(place.address, `tasks/${id}`);
      const shown = page.getByLabel("Payload");
      await until(hostile_texts[i].name, async () =>
        (await shown.textContent()).includes(hostile_texts[i].shown),
      );
      assert.ok((await shown.textContent()).includes(large_number), "numbers are not rounded");
      for (const mark of ["\u202e", "\u0007", "\u2066"])
        assert.ok(!(await page.content()).includes(mark), `${hostile_texts[i].name} leaves a mark`);
    }
    assert.equal(await page.evaluate(() => window.harmed), undefined);
    assert.deepEqual(await operator.trouble(), []);
  });

  test("hundreds of hostile texts are shown as texts", async () => {
    assert.ok(corpus.length >= 300);
    const { page } = operator;
    const ids = await store_corpus(place);
    await operator.open(place.address, "tasks?kind=corpus");
    const seen = new Set();
    const next = page.getByRole("button", { name: "Next page" });
    for (let last = ""; ;) {
      const first = page.locator("tbody a").first();
      await until("the next page", async () => (await first.getAttribute("href")) !== last);
      last = await first.getAttribute("href");
      for (const row of await page.locator("tbody tr td:first-child a").all())
        seen.add(await row.getAttribute("href"));
      if (await next.isDisabled()) break;
      await next.click();
    }
    assert.equal(seen.size, ids.length);

    await operator.open(place.address, `tasks/${ids.at(-1)}`);
    const shown = page.getByLabel("Payload");
    await until("the payload", async () => (await shown.textContent()).length > 10_000);
    const text = await shown.textContent();
    // The header of a cookie is a credential, whatever else it tries to be.
    const missing = corpus
      .filter((each) => !each.includes("Set-Cookie:"))
      .map((each) => JSON.stringify(each))
      .filter((each) => /^[ -~]*$/.test(each) && !text.includes(each));
    assert.deepEqual(missing, []);
    assert.ok(!text.includes("Set-Cookie: harmed"));
    assert.equal(await page.evaluate(() => window.harmed), undefined);
    assert.deepEqual(await operator.trouble(), []);
  });

  test("what is done to all that match takes the whole filter", async () => {
    const { page } = operator;
    const add = (id, number) =>
      place.run("task", "add", "bulk", `{"customer":{"id":${id}}}`, "--count", String(number));
    await add(7, 700);
    await add(8, 5);
    await place.run("task", "add", "bulk", '{"customer":{"id":7}}', "--tag", "gone");
    await operator.open(place.address, "tasks?kind=bulk&field=customer.id&value=7");
    await place.run("task", "cancel", "--kind", "bulk", "--tag", "gone");
    await page.getByRole("button", { name: "Cancel all that match" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("heading", { name: /Cancel (at least \d+|700) tasks/ }).waitFor();
    await dialog.getByText("of kind bulk, whose payload has customer.id = 7").waitFor();
    await dialog.getByRole("button", { name: "Cancel", exact: true }).click();
    await dialog.getByText("700 tasks cancelled or asked to stop.").waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();

    await operator.open(place.address, "tasks");
    const form = page.getByRole("form", { name: "Filter of tasks" });
    await form.getByLabel("Kind").fill("bulk");
    await form.getByRole("button", { name: "pending" }).click();
    await page.getByRole("heading", { name: "5 tasks" }).waitFor();
    assert.match(page.url(), /state=pending&kind=bulk$/, "what was typed is not lost");

    await operator.open(place.address, "tasks?kind=bulk");
    await page.getByRole("heading", { name: "706 tasks" }).waitFor();
    const all = page.getByRole("button", { name: "Cancel all that match" });
    await all.press("Enter");
    await dialog.getByRole("heading", { name: "Cancel 5 tasks?" }).waitFor();
    await page.keyboard.press("Escape");
    assert.ok(await all.evaluate((button) => button === document.activeElement), "focus is back");
  });

  test("a filter that cannot be read shows and changes nothing", async () => {
    const { page } = operator;
    for (const wrong of ["since=10sec", "value=7", "state=faild", "error=a&since=soon"]) {
      await operator.open(place.address, `tasks?${wrong}`);
      await page.getByRole("alert").getByText("Nothing is shown").waitFor();
      assert.equal(await page.locator("tbody tr").count(), 0, wrong);
      for (const name of ["Retry all that match", "Cancel all that match"])
        assert.ok(await page.getByRole("button", { name }).isDisabled(), wrong);
    }
    await operator.open(place.address, "tasks?kind=bulk&since=1h30m");
    await page.getByRole("heading", { name: "706 tasks" }).waitFor();
  });

  test("the page of requests says which host is left alone", async () => {
    const { page } = operator;
    const address = await unused_address();
    for (let i = 0; i < 12; ++i) await place.run("http", "get", address, "--queue", "far");
    const processor = place.start("http", "run", "--queue", "far", "--allow-private");
    await operator.open(place.address, "http");
    const host = address.replace("http://", "");
    await page.getByText(`${host} is left alone until`).waitFor();
    processor.kill("SIGKILL");
  });

  test("a server that was started anew asks who is there", async () => {
    const { page } = operator;
    await operator.open(place.address, "workers");
    await place.stop_server();
    const link = await place.start_server_again();
    await page.getByRole("heading", { name: "Sign in to Holdfast" }).waitFor();
    await page.goto(link);
    await page.getByRole("heading", { name: "Overview" }).waitFor();

    await page.goto(link);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    const stranger = await Visitor.come(browser);
    await stranger.page.goto(link);
    await stranger.page.getByRole("alert").getByText("The link was used before").waitFor();
    assert.equal(stranger.page.url(), `${place.address}/`);
    await stranger.context.close();
  });
});
