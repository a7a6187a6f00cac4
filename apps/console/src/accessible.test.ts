import { findBrowser } from "@countersign/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findFaults } from "./testing/axe.js";
import { openConsole, PATIENCE } from "./testing/open-console.js";
import type { OpenedConsole } from "./testing/open-console.js";

const hasNoBrowser = findBrowser() === undefined;
let opened: OpenedConsole;
beforeAll(async () => {
  if (hasNoBrowser) return;
  opened = await openConsole();
  await opened.talk("alice", "run-1");
  await opened.talk("bob", "held-2");
}, PATIENCE);
afterAll(() => opened?.stop());

/** Each page by its address, and what is on it once it is there. */
const PAGES = [
  ["now", "Events per second"],
  ["live", "RUN_STARTED"],
  ["runs", "held-2"],
  ["runs?view=sessions", "alice"],
  ["runs/alice/run-1", "Timeline"],
  ["receipts", "ag_ui.capability"],
  ["receipts/10", "Signed, unchanged"],
  ["policy", "Events that enforce mode would block"],
  ["capabilities", "Revoke a token"],
  ["nowhere", "does not exist"],
] as const;

test.skipIf(hasNoBrowser).each([
  ["light and wide", "light", 1280],
  ["dark and narrow", "dark", 390],
] as const)(
  "no page has a fault that axe finds, and none is wider than the screen: %s",
  async (_name, colorScheme, width) => {
    const context = { colorScheme, viewport: { width, height: 844 } };
    const page = await opened.open("", { context, isSignedIn: false });
    const faults = (await findFaults(page)).map((fault) => `login ${fault}`);
    await page.getByLabel("Admin token").fill(opened.served.adminToken);
    await page.getByRole("button", { name: "Sign in" }).click();
    for (const [place, text] of PAGES) {
      await page.evaluate((hash) => void (location.hash = hash), `#/${place}`);
      await page.getByText(text).first().waitFor();
      faults.push(...(await findFaults(page)).map((fault) => `${place} ${fault}`));
      const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (beyond > 0) faults.push(`${place} is ${beyond} too wide`);
    }
    await page.evaluate(() => void (location.hash = "#/policy"));
    await page.getByLabel("Candidate policy (YAML or JSON)").fill("ag_ui: {}\nag_ui_content: {}\n");
    await page.getByRole("button", { name: "Compare" }).click();
    await page.locator(".compared").waitFor();
    faults.push(...(await findFaults(page)).map((fault) => `compared ${fault}`));
    await page.evaluate(() => void (location.hash = "#/runs?view=running"));
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await page.getByRole("dialog").waitFor();
    faults.push(...(await findFaults(page)).map((fault) => `dialog ${fault}`));
    expect(faults).toEqual([]);
    expect(opened.pageErrors).toEqual([]);
    await page.context().close();
  },
  PATIENCE,
);
