import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { findBrowser, startBrowser } from "@countersign/testkit";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  LOOK_TIME,
  startPhishingNight,
} from "../../../packages/gateway/src/testing/phishing-night.js";
import type { PhishingNight } from "../../../packages/gateway/src/testing/phishing-night.js";
import { CONSOLE_DIRECTORY } from "../files.mjs";
import { assertBuilt, PATIENCE, signIn, writeCandidate } from "./testing/open-console.js";
import { createOperators } from "./testing/operators.js";

const hasNoBrowser = findBrowser() === undefined;
const { control, tokens } = createOperators();
let night: PhishingNight;
let browser: Browser;
beforeAll(async () => {
  if (hasNoBrowser) return;
  assertBuilt();
  [night, browser] = await Promise.all([
    startPhishingNight({ control, consoleDirectory: CONSOLE_DIRECTORY }),
    startBrowser(),
  ]);
}, PATIENCE);
afterAll(async () => {
  await browser?.close();
  await night?.stop();
});

/** The console at 03:20 UTC, signed in as a role. */
async function openAt(role: "operator" | "admin"): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    timezoneId: "UTC",
  });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  await page.clock.setFixedTime(LOOK_TIME);
  await page.goto(`${night.served.running.controlUrl}/console`);
  await signIn(page, tokens.get(role) ?? "");
  return page;
}

const link = (page: Page, name: string | RegExp) => page.getByRole("link", { name }).first();
const rowsOf = (page: Page) => page.getByRole("table", { name: /^Decisions/ }).getByRole("row");

test.skipIf(hasNoBrowser)(
  "from the console alone, an operator finds who, what, why and what the person saw, and stops the agent under their name",
  async () => {
    const page = await openAt("operator");
    // When: the chart names its peak, and the link opens what happened then.
    await page.getByText("Peak:").waitFor();
    await link(page, "03:00 to 03:30").click();
    await page.getByText("Showing 3 of 3 matching entries").waitFor();
    // Who.
    await page.getByRole("combobox", { name: "Principal" }).selectOption({ label: "key:bob (85)" });
    await page.getByRole("button", { name: "Remove filter principal key:bob" }).waitFor();
    // What and why: a form, an image and a custom event, each with its rule.
    const row = (text: string) => rowsOf(page).filter({ hasText: text });
    await row("sign-in-form").getByText("ag_ui_components").waitFor();
    await row("custom:open-sign-in").getByText("ag_ui.capability").waitFor();
    await row("ag_ui_content.images").getByText("a text contains an image of a host").waitFor();
    await row("sign-in-form").getByText("127.0.0.1").waitFor();
    // The receipt: the rule, its meaning, and the lines that would open the event.
    await row("custom:open-sign-in").getByRole("link").first().click();
    const rule = page.getByRole("region", { name: "The rule" });
    await rule.getByText("blocked this event").waitFor();
    await rule
      .getByText("Lines that allow a CUSTOM event named open-sign-in for every session")
      .click();
    await expect
      .poll(() => rule.getByLabel("Lines to add").filter({ visible: true }).textContent())
      .toContain("open-sign-in");
    await page.getByText("Signed, unchanged").waitFor();
    // What the person saw: the run, with the withheld parts as outlines.
    await link(page, /^Run mailbox-full$/).click();
    const said = page.getByRole("region", { name: "Conversation" });
    const withheld = said.getByRole("listitem").filter({ hasText: "the person did not see this" });
    await withheld.first().waitFor();
    expect(await withheld.count()).toBe(3);
    await withheld.filter({ hasText: "Interface sign-in-form" }).waitFor();
    await withheld.filter({ hasText: "Custom event open-sign-in" }).waitFor();
    await withheld.filter({ hasText: "ag_ui_content.images" }).waitFor();
    // Close it: the agent is stopped, after its runs are listed.
    await link(page, "Agent").click();
    const agent = page.getByRole("region", { name: "Agent support" });
    await agent.getByText("1 open run", { exact: true }).waitFor();
    await agent.getByRole("button", { name: /^Stop all runs/ }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("mailbox-full").waitFor();
    await dialog.getByText("key:bob").waitFor();
    await dialog.getByRole("button", { name: "Stop 1 run" }).click();
    await agent.getByText("Stopped by the-operator").waitFor();
    // The log names the operator.
    await link(page, "Receipts").click();
    await page.getByLabel("Find").fill("the-operator");
    await rowsOf(page)
      .filter({ hasText: "gateway/operator-stop" })
      .filter({ hasText: "key:bob" })
      .waitFor();
    const contained = rowsOf(page).filter({ hasText: "operator.agent-contain" });
    await contained.getByText("the-operator").waitFor();
    await contained.getByText("/agents/support").waitFor();
    await page.context().close();
  },
  PATIENCE,
);

test.skipIf(hasNoBrowser)(
  "an admin opens what was blocked with the lines of the receipt, and the log has the change under their name",
  async () => {
    const page = await openAt("admin");
    await link(page, "Receipts").click();
    await page.getByRole("combobox", { name: "Decision" }).selectOption("blocked");
    await rowsOf(page).filter({ hasText: "custom:open-sign-in" }).getByRole("link").first().click();
    await page
      .getByText("Lines that allow a CUSTOM event named open-sign-in for every session")
      .click();
    const lines =
      (await page.getByLabel("Lines to add").filter({ visible: true }).textContent()) ?? "";
    // As the page says: into the block that exists.
    const [block = "", ...rest] = lines.split("\n");
    await page.getByRole("link", { name: "policy", exact: true }).click();
    await page.getByRole("button", { name: "Insert the active policy" }).click();
    const active = await readFile(join(night.served.folder, "policy.yaml"), "utf8");
    const added = [`  ${block}`, ...rest.map((line) => `  ${line}`)].join("\n");
    await writeCandidate(page, active.replace(`  ${block}`, added));
    await page.getByRole("button", { name: "Compare" }).click();
    await page.locator("main").getByText("looser").first().waitFor();
    await page.getByRole("button", { name: "Apply…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Apply" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await link(page, "Receipts").click();
    await page.getByLabel("Find").fill("the-admin");
    const applied = rowsOf(page).filter({ hasText: "operator.policy-apply" }).first();
    await applied.getByText("the-admin", { exact: true }).waitFor();
    const { document } = night.served.running.policy.holder.current;
    expect(JSON.stringify(document)).toContain("open-sign-in");
    await page.context().close();
  },
  PATIENCE,
);
