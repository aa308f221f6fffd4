// A browser that notes everything that must not happen: dialogs, errors of the page, and whatever
// its policy had to refuse.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";
import { Place } from "./place.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
  });
}

export class Visitor {
  static async come(browser, options = {}) {
    const visitor = new Visitor();
    visitor.context = await browser.newContext({
      viewport: { width: 1360, height: 900 },
      ...options,
    });
    visitor.context.setDefaultTimeout(60_000);
    visitor.page = await visitor.context.newPage();
    visitor.complaints = [];
    visitor.page.on("dialog", (dialog) => {
      visitor.complaints.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    visitor.page.on("pageerror", (error) => visitor.complaints.push(`error: ${error.stack}`));
    visitor.page.on("console", (message) => {
      if (/Content Security Policy|Refused to/.test(message.text()))
        visitor.complaints.push(message.text());
    });
    await visitor.page.addInitScript(() => {
      window.refusals = [];
      addEventListener("securitypolicyviolation", (event) =>
        window.refusals.push(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`),
      );
    });
    return visitor;
  }

  /** Another window, which does not ask by itself: only live events can tell it something. */
  async listener() {
    const page = await this.context.newPage();
    await page.addInitScript(() => {
      const set_timeout = window.setTimeout;
      window.setTimeout = (run, delay) => (delay >= 5_000 ? 0 : set_timeout(run, delay));
    });
    return page;
  }

  /** Opens a page of the dashboard, such as `tasks?state=failed`. */
  async open(address, hash) {
    await this.page.goto(`${address}/#/${hash}`);
    await this.page.locator("main h1").waitFor();
  }

  async trouble() {
    return [...this.complaints, ...(await this.page.evaluate(() => window.refusals ?? []))];
  }

  /** What axe-core finds serious or worse. It is evaluated by the debugger, past the policy. */
  async barriers(rules) {
    if (!(await this.page.evaluate(() => "axe" in window))) await this.page.evaluate(axe);
    const { violations } = await this.page.evaluate(
      (only) => window.axe.run({ resultTypes: ["violations"], ...(only && { runOnly: only }) }),
      rules,
    );
    return violations
      .filter((each) => each.impact === "serious" || each.impact === "critical")
      .map(
        (each) => `${each.id}: ${each.help}: ${each.nodes.map((node) => node.html).join(" | ")}`,
      );
  }
}

/** A place and somebody who visits it; both are gone afterwards. */
export async function with_browser(run) {
  const place = new Place();
  const browser = await launch();
  try {
    await run(place, await Visitor.come(browser));
  } finally {
    await browser.close();
    await place.clean_up();
  }
}
