// How soon a page of the dashboard is seen in Chromium, and how soon what it shows is there:
//
//     node first_paint.mjs URL PACKAGES
//
// PACKAGES is a folder with playwright-core. Prints a line for each page.
import { createRequire } from "node:module";
import { join } from "node:path";

const [url, packages] = process.argv.slice(2);
const { chromium } = createRequire(join(packages, "package.json"))("playwright-core");
const pages = { overview: "", tasks: "tasks" };

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
});
// The first page pays for the start of the browser.
await (await browser.newPage()).goto("about:blank");
for (const [name, hash] of Object.entries(pages)) {
  // A context has no cache of an earlier visit.
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${url}/#/${hash}`);
  await page.locator("main table tbody tr").first().waitFor();
  const { paint, content_at } = await page.evaluate(() => ({
    paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
    content_at: performance.now(),
  }));
  const [painted, shown] = [paint.toFixed(0), content_at.toFixed(0)];
  console.log(`  first paint of ${name} after ${painted} ms, its rows within ${shown} ms`);
  await context.close();
}
await browser.close();
