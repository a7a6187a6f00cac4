import { mkdirSync } from "node:fs";
import { findBrowser, startBrowser } from "@countersign/testkit";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startDemo } from "./start-demo.js";
import type { Demo } from "./start-demo.js";

const isMissing = findBrowser() === undefined;
let demo: Demo;
let browser: Browser;

beforeAll(async () => {
  demo = await startDemo(0);
  if (findBrowser() !== undefined) browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  await demo?.close();
});

async function open(options: Parameters<Browser["newContext"]>[0] = {}): Promise<Page> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  await page.goto(demo.url);
  return page;
}

/** Pictures are kept only when asked for: `COUNTERSIGN_SCREENSHOTS=folder`. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env["COUNTERSIGN_SCREENSHOTS"];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: `${folder}/${name}.png` });
}

test.skipIf(isMissing)(
  "the person gets the answer, and neither the phishing form nor the flood",
  async () => {
    const page = await open({ viewport: { width: 1280, height: 800 } });
    await page.getByRole("button", { name: "Where is my order?" }).click();
    await page.getByText("Order #1024 has shipped and arrives on Tuesday.").waitFor();
    await expect.poll(() => page.locator(".row.blocked").count()).toBeGreaterThan(20);
    expect(await page.locator("dialog[open]").count()).toBe(0);
    expect(await page.locator(".toast").count()).toBeLessThanOrEqual(3);
    const reasons = await page.locator(".row.blocked .verdict").allTextContents();
    expect(reasons.some((reason) => reason.includes("unknown component id"))).toBe(true);
    await picture(page, "demo-light");
    await page.locator(".row.blocked").first().click();
    await expect
      .poll(() => page.locator("#detail pre").textContent())
      .toContain('"allowed": false');
  },
);

test.skipIf(isMissing)(
  "a refund is confirmed in the one dialog the capability opens, and nothing leads away",
  async () => {
    const page = await open({ viewport: { width: 1280, height: 800 }, colorScheme: "dark" });
    await page.getByRole("button", { name: "I want a refund" }).click();
    await page.getByRole("button", { name: "Confirm refund" }).waitFor();
    expect(await page.locator("#screen").isVisible()).toBe(false);
    await picture(page, "demo-dark");
    await page.getByRole("button", { name: "Confirm refund" }).click();
    await page.getByText("Done: $42.50 is on its way to your card.").waitFor();
  },
);

test.skipIf(isMissing)(
  "without the gateway the same agent phishes, and the page says that nothing was judged",
  async () => {
    const page = await open({ viewport: { width: 390, height: 844 } });
    await page.getByText("Without it").click();
    await page.getByRole("button", { name: "Where is my order?" }).click();
    await page.getByText("Your session expired. Please confirm your card to continue.").waitFor();
    expect(await page.locator("#rows").textContent()).toContain("not judged");
    await picture(page, "demo-unguarded-narrow");
  },
);

test("a port that is taken is refused before an agent or a gateway starts", async () => {
  const listening = (): number =>
    process.getActiveResourcesInfo().filter((kind) => kind === "TCPServerWrap").length;
  const before = listening();
  await expect(startDemo(Number(new URL(demo.url).port))).rejects.toThrow("EADDRINUSE");
  await expect.poll(listening).toBe(before);
});
