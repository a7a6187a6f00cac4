import { join } from "node:path";
import { findBrowser } from "@countersign/testkit";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROLES } from "./api/session.js";
import { findFaults } from "./testing/axe.js";
import { openConsole, PATIENCE, signIn, writeCandidate } from "./testing/open-console.js";
import type { OpenedConsole } from "./testing/open-console.js";
import { createOperators } from "./testing/operators.js";

const hasNoBrowser = findBrowser() === undefined;
/** A folder for pictures of every page, to look at: COUNTERSIGN_PICTURES=folder npm test -- apps/console/src/accessible.test.ts */
const pictures = process.env["COUNTERSIGN_PICTURES"];
const { control, tokens } = createOperators();
let opened: OpenedConsole;
beforeAll(async () => {
  if (hasNoBrowser) return;
  opened = await openConsole(undefined, undefined, "", control);
  await opened.talk("alice", "run-1");
}, PATIENCE);
afterAll(() => opened?.stop());

/** Each page by its address, and what is on it once it is there. */
const PAGES = [
  ["overview?period=15m", "What changed since yesterday"],
  ["live", "RUN_STARTED"],
  ["runs", "held-"],
  ["runs?view=sessions", "alice"],
  ["runs/alice/run-1", "Conversation"],
  ["receipts", "ag_ui.capability"],
  ["receipts/10", "Signed, unchanged"],
  ["policy", "Events that enforce mode would block"],
  ["agents", "Stop all agents"],
  ["approvals", "No approvals wait"],
  ["capabilities", "Revoke a token"],
  ["nowhere", "does not exist"],
] as const;

/** The menu. */
const MENU = [
  "Overview",
  "Live",
  "Runs",
  "Receipts",
  "Policy",
  "Agents",
  "Approvals",
  "Capabilities",
] as const;

const SIZES = [1280, 390] as const;

/** What axe finds in both colours, and whether the page is wider than the screen. */
async function look(page: Page, name: string): Promise<string[]> {
  await page.emulateMedia({ colorScheme: "light" });
  const faults = await findFaults(page);
  await page.emulateMedia({ colorScheme: "dark" });
  faults.push(...(await findFaults(page, "color-contrast")));
  const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (beyond > 0) faults.push(`is ${beyond} too wide`);
  if (pictures !== undefined) {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const path = join(pictures, `${name.replaceAll(/\W+/gu, "-")}-${colorScheme}.png`);
      await page.screenshot({ path, fullPage: true, animations: "disabled" });
    }
  }
  return faults.map((fault) => `${name}: ${fault}`);
}

const go = (page: Page, place: string): Promise<void> =>
  page.evaluate((hash) => void (location.hash = hash), `#/${place}`);

/** The controls of a page, outside of the virtual list, whose rows the arrow keys walk. */
const CONTROLS =
  "main :is(a[href], button:enabled, select:enabled, input:enabled:not([hidden]), textarea, summary, [contenteditable=true]):not(.feed-scroll *)";

/** Tells elements apart; the editor changes its attributes when it has the focus. */
const NAMES = (elements: readonly Element[]): string[] =>
  elements.map((one) =>
    [one.tagName, one.getAttribute("aria-label") ?? one.textContent, one.getAttribute("href")].join(
      " ",
    ),
  );

test.skipIf(hasNoBrowser)(
  "the keyboard alone reaches every page and everything that can be operated on it",
  async () => {
    const page = await opened.open("", { token: tokens.get("admin") ?? "" });
    for (const name of MENU) {
      await page.getByRole("link", { name: "Skip to content" }).focus();
      const isThere = () => page.evaluate(() => document.activeElement?.textContent ?? "");
      for (let step = 0; step <= MENU.length && (await isThere()) !== name; step += 1) {
        await page.keyboard.press("Tab");
      }
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name }).waitFor();
      await page.locator("main .pulse").first().waitFor({ state: "detached" });
      if (name === "Policy")
        await page.getByRole("textbox", { name: "Candidate policy" }).waitFor();
      // Reading a page starts at its heading; from there, Tab reaches the rest.
      await page.locator("h1").focus();
      const controls = page.locator(CONTROLS).filter({ visible: true });
      const reached = new Set<string>();
      const count = await controls.count();
      for (let step = 0; step < count + 20; step += 1) {
        await page.keyboard.press("Tab");
        const active = await page.evaluateHandle(() => {
          const element = document.activeElement;
          // The editor is in a shadow root.
          return [element?.shadowRoot?.activeElement ?? element].filter((one) => one !== null);
        });
        reached.add(
          String(await active.evaluate(NAMES as (all: (Element | undefined)[]) => string[])),
        );
      }
      const all = await controls.evaluateAll(NAMES);
      expect([name, all.filter((one) => !reached.has(one))]).toEqual([name, []]);
    }
    await page.context().close();
  },
  PATIENCE,
);

test
  .skipIf(hasNoBrowser)
  .each(ROLES.flatMap((role) => SIZES.map((width) => [role, width] as const)))(
  "no page has a fault that axe finds, in light and dark, and none is wider than the screen: %s at %d",
  async (role, width) => {
    const context = { viewport: { width, height: 844 } };
    await opened.talk("bob", `held-${role}-${width}`);
    const page = await opened.open("", { context, isSignedIn: false });
    await page.getByLabel("Token", { exact: true }).waitFor();
    const faults = await look(page, `login-${width}`);
    await signIn(page, tokens.get(role) ?? "");
    await page.getByText(`the-${role}`).first().waitFor({ state: "attached" });
    for (const [place, text] of PAGES) {
      await go(page, place);
      await page.getByText(text).filter({ visible: true }).first().waitFor();
      await page.locator("main .pulse").first().waitFor({ state: "detached" });
      faults.push(...(await look(page, `${place}-${role}-${width}`)));
    }
    await go(page, "policy");
    await writeCandidate(page, "ag_ui: {}\nag_ui_content: {}\n");
    const compare = page.getByRole("button", { name: "Compare" });
    expect(await compare.isDisabled()).toBe(role !== "admin");
    if (role === "admin") {
      await compare.click();
      await page.locator(".compared").waitFor();
    }
    faults.push(...(await look(page, `compared-${role}-${width}`)));
    await go(page, "runs?view=running");
    const stop = page.getByRole("button", { name: "Stop", exact: true }).first();
    await stop.waitFor();
    // A viewer learns why the button is off; the others are asked first.
    const reason = role === "viewer" ? "needs the role operator" : "";
    expect((await stop.getAttribute("title")) ?? "").toContain(reason);
    expect(await stop.isDisabled()).toBe(role === "viewer");
    if (role !== "viewer") {
      await stop.click();
      await page.getByRole("dialog").waitFor();
      faults.push(...(await look(page, `dialog-${role}-${width}`)));
    }
    expect(faults).toEqual([]);
    expect(opened.pageErrors).toEqual([]);
    await page.context().close();
  },
  2 * PATIENCE,
);
