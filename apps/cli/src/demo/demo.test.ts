import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { startGateway } from "@countersign/gateway";
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
    await page.setViewportSize({ width: 1280, height: 800 });
    const isCut = (cells: Element[]): boolean =>
      cells.some((cell) => cell.scrollWidth > cell.clientWidth + 1);
    expect(await page.locator(".row span").evaluateAll(isCut)).toBe(false);
    expect(
      Number(await page.locator("#forwarded").textContent()),
      "what came is counted",
    ).toBeGreaterThan(0);
    await picture(page, "demo-unguarded-narrow");
  },
);

/** Follows a suggestion to its end, as a person does: the answer stands there and the next question may be asked. */
async function follow(page: Page, suggestion: string): Promise<void> {
  const isRefund = suggestion.includes("refund");
  const answer = page.getByText(
    isRefund ? "Done: $42.50 is on its way" : "Order #1024 has shipped and arrives",
  );
  const before = await answer.count();
  await page.getByRole("button", { name: suggestion }).click();
  const confirm = page.getByRole("button", { name: "Confirm refund" });
  if (isRefund) await confirm.or(page.locator(".message.error")).first().click();
  await expect.poll(() => page.locator("#stop").isHidden(), { timeout: 10_000 }).toBe(true);
  expect(await page.locator(".message.error").allTextContents()).toEqual([]);
  expect(await answer.count()).toBe(before + 1);
}

const SUGGESTIONS = ["Where is my order?", "I want a refund"];
const PAIRS = SUGGESTIONS.flatMap((first) => SUGGESTIONS.map((second) => [first, second] as const));

test.skipIf(isMissing).each(PAIRS)(
  "one conversation takes every suggestion after another: %s, then %s, then a question of one's own",
  async (first, second) => {
    const page = await open({ viewport: { width: 1280, height: 800 } });
    await follow(page, first);
    await follow(page, second);
    const said = await page.locator(".message.assistant").count();
    await page.getByLabel("Your message").fill("And where is it now?");
    await page.getByRole("button", { name: "Send" }).click();
    await expect.poll(() => page.locator(".message.assistant").count()).toBe(said + 2);
    await expect.poll(() => page.locator("#stop").isHidden(), { timeout: 10_000 }).toBe(true);
    expect(await page.locator(".message.error").allTextContents()).toEqual([]);
    await picture(
      page,
      `demo-two-${PAIRS.findIndex((pair) => pair[0] === first && pair[1] === second)}`,
    );
  },
);

/** Presses the button from within the page: on a busy machine the answer may be over before a test can. */
const STOP_AT_ONCE = `new MutationObserver((_changes, observer) => {
  const stop = [...document.querySelectorAll("button")].find((button) => button.textContent.trim() === "Stop");
  if (stop === undefined || !document.body.textContent.includes("I'll check")) return;
  observer.disconnect();
  stop.click();
}).observe(document.body, { subtree: true, childList: true, characterData: true });`;

test.skipIf(isMissing)("a conversation goes on after an answer that was stopped", async () => {
  const page = await open({ viewport: { width: 1280, height: 800 } });
  await page.evaluate(STOP_AT_ONCE);
  await page.getByRole("button", { name: "Where is my order?" }).click();
  await page.getByText("Stopped.").waitFor();
  await page.getByRole("button", { name: "Where is my order?" }).click();
  await page.getByText("Order #1024 has shipped and arrives on Tuesday.").waitFor();
  expect(await page.locator(".message.error").allTextContents()).toEqual(["Stopped."]);
});

test("a path without a name does not end the demo", async () => {
  expect((await fetch(`${demo.url.replace(/\/$/u, "")}//`)).status).toBe(404);
  expect((await fetch(demo.url)).status).toBe(200);
});

test("a port that is taken is refused before an agent or a gateway starts", async () => {
  const listening = (): number =>
    process.getActiveResourcesInfo().filter((kind) => kind === "TCPServerWrap").length;
  const before = listening();
  await expect(startDemo(Number(new URL(demo.url).port))).rejects.toThrow("EADDRINUSE");
  await expect.poll(listening).toBe(before);
});

test("a demo that does not come about leaves nothing listening and no folder", async () => {
  const listening = (): number =>
    process.getActiveResourcesInfo().filter((kind) => kind === "TCPServerWrap").length;
  const before = listening();
  const parent = mkdtempSync(join(tmpdir(), "countersign-demo-test-"));
  await expect(startDemo(0, { parent: join(parent, "absent") })).rejects.toThrow("ENOENT");
  const start = () => Promise.reject(new Error("no gateway today"));
  await expect(startDemo(0, { parent, start })).rejects.toThrow("no gateway today");
  expect(readdirSync(parent)).toEqual([]);
  rmSync(parent, { recursive: true });
  await expect.poll(listening).toBe(before);
});

test("on the usual port of the web the page's origin has no port", async () => {
  const expected = ["http://127.0.0.1", "http://localhost"];
  let origins: readonly string[] = [];
  const start: typeof startGateway = (config) => {
    ({ origins } = config);
    return Promise.reject(new Error("seen"));
  };
  const failure = await startDemo(80, { start }).catch((error: NodeJS.ErrnoException) => error);
  // Port 80 may be forbidden or in use; with either, the configuration must have been accepted.
  const isRefused = "syscall" in failure && failure.syscall === "listen";
  expect(isRefused ? expected : origins).toEqual(expected);
});
