import { findBrowser, startBrowser } from "@countersign/testkit";
import type { RunAgentInput } from "@countersign/wire";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findFaults } from "../../../console/src/testing/axe.js";
import type { Step } from "./script.js";
import { startDemo } from "./start-demo.js";
import type { Demo } from "./start-demo.js";

const isMissing = findBrowser() === undefined;
/** For a browser on a busy machine. */
const PATIENCE = 180_000;
const CONDITION = 45_000;
const WAIT = { timeout: CONDITION };
let demo: Demo;
let browser: Browser;

beforeAll(async () => {
  demo = await startDemo(0);
  if (!isMissing) browser = await startBrowser();
}, PATIENCE);
afterAll(async () => {
  await browser?.close();
  await demo?.close();
});

/** Opens the page and waits until the question that it plays is answered. */
async function open(
  options: Parameters<Browser["newContext"]>[0] = {},
  url = demo.url,
): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(CONDITION);
  await page.goto(url);
  await page.locator("#outcome", { hasText: /Without Countersign|nothing harmful/u }).waitFor();
  return page;
}

const isWaiting = (page: Page): Promise<void> =>
  page.locator("[data-say][aria-disabled=false]").first().waitFor();
const sentences = (page: Page, side: "direct" | "guarded"): Promise<string[]> =>
  page.locator(`#${side} .outcomes .sentence`).allTextContents();

const OUTCOME = "Without Countersign, 1 harmful act reached you. With Countersign, none.";
const TRAP = "a button that says “View invoice” and transfers $499.00";
const FORGED = "a click that you never made: “Approve refund of $9,999”";
const INVOICE = "Invoice for order #1024: one desk lamp, $42.50, paid.";

/** The buttons that the agent drew on a side. */
const drawn = (page: Page, side: string): Locator =>
  page.locator(side).getByRole("group", { name: "Card of the agent" }).getByRole("button");

/** Starts a scene by its button and waits for its outcome. */
async function play(page: Page, name: string, told: string): Promise<void> {
  await page.getByRole("button", { name }).click();
  await page.locator("#guarded .outcomes", { hasText: told }).waitFor();
  await isWaiting(page);
}

test.skipIf(isMissing)(
  "the card whose button lies reaches one side, and both sides tell it in the same words",
  async () => {
    const page = await open();
    await play(page, "Show my invoice", TRAP);
    expect(await page.locator("#outcome").textContent()).toBe(OUTCOME);
    expect(await sentences(page, "direct")).toEqual([`Reached you: ${TRAP}`]);
    expect(await sentences(page, "guarded")).toEqual([`Stopped: ${TRAP}`]);
    // The two cards have the same words; only the mark of the page tells them apart.
    expect(await drawn(page, "#direct").allTextContents()).toEqual([
      "View invoice",
      "View invoice",
    ]);
    expect(await drawn(page, "#guarded").allTextContents()).toEqual(["View invoice"]);
    const cards = await page.locator("#direct .drawn").allTextContents();
    expect(cards[1]).toBe(`Harmful${cards[0]}`);
    expect(await page.locator("#guarded .drawn").allTextContents()).toEqual([cards[0]]);
    expect(await page.locator("#guarded .harmful").count()).toBe(0);
    await page.context().close();
  },
  PATIENCE,
);

test.skipIf(isMissing)(
  "the lying button sends the money, and the good card answers on both sides as often as it is pressed",
  async () => {
    const page = await open();
    await play(page, "Show my invoice", TRAP);
    await drawn(page, "#direct").last().click();
    await page
      .locator("#direct .message.harmful", { hasText: "HarmfulSent $499.00 to Lucky Draw Ltd." })
      .waitFor();
    await isWaiting(page);
    for (const side of ["#direct", "#guarded"]) {
      for (const times of [1, 2]) {
        await drawn(page, side).first().click();
        await expect.poll(() => page.locator(side).getByText(INVOICE).count(), WAIT).toBe(times);
        await isWaiting(page);
      }
    }
    // A message list of the agent, another question and an open form leave the card usable.
    await play(page, "I want a refund", "a fake shop message");
    await drawn(page, "#guarded").click();
    await expect.poll(() => page.locator("#guarded").getByText(INVOICE).count(), WAIT).toBe(3);
    expect(await page.locator(".message.error").allTextContents()).toEqual([]);
    expect(await page.locator("#guarded .messages").textContent()).not.toContain("Lucky Draw");
    await page.context().close();
  },
  PATIENCE,
);

test.skipIf(isMissing)(
  "a forged click pays on one side, and on the other its receipt proves the refusal",
  async () => {
    const page = await open();
    await play(page, "Load a hacked ad", FORGED);
    expect(await page.locator("#outcome").textContent()).toBe(OUTCOME);
    expect(await sentences(page, "direct")).toEqual([`Reached you: ${FORGED}`]);
    expect(await sentences(page, "guarded")).toEqual([`Stopped: ${FORGED}`]);
    await page
      .locator("#direct .message.harmful", { hasText: "Refunded $9,999 to Lucky Draw Ltd." })
      .waitFor();
    const guarded = page.locator("#guarded");
    await guarded.getByText("never got that click: ERR_REQUEST_ACTION_UNKNOWN").waitFor();
    expect(await guarded.textContent()).not.toContain("Lucky Draw");
    await page.getByRole("button", { name: "Receipt for: a click that you never made" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("ag_ui_request.actions", { exact: true }).waitFor();
    await dialog.getByText(/^ERR_REQUEST_ACTION_UNKNOWN: the thread shows no such/u).waitFor();
    await dialog.getByRole("button", { name: "Verify in this browser" }).click();
    await dialog.getByText("Verified: the receipt is signed").waitFor();
    await page.keyboard.press("Escape");
    // The conversation goes on.
    await page.getByRole("button", { name: "Where is my order?" }).click();
    await expect.poll(() => guarded.getByText("Order #1024 has shipped").count(), WAIT).toBe(2);
    await isWaiting(page);
    expect(await page.locator(".ad:visible, .message.error").count()).toBe(0);
    await page.context().close();
  },
  PATIENCE,
);

test.skipIf(isMissing).each([
  ["light", 1280, 800],
  ["dark", 1280, 800],
  ["light", 390, 844],
  ["dark", 390, 844],
] as const)(
  "both scenes are taken with the keyboard, without a fault that axe finds and without sideways scroll: %s at %i px",
  async (colorScheme, width, height) => {
    const page = await open({ colorScheme, viewport: { width, height }, reducedMotion: "reduce" });
    const faults: string[] = [];
    const inspect = async (state: string): Promise<void> => {
      faults.push(...(await findFaults(page)).map((fault) => `${state} ${fault}`));
      const beyond = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
      if (Number(beyond) > 0) faults.push(`${state} is ${String(beyond)} too wide`);
    };
    const enter = async (button: Locator): Promise<void> => {
      await button.focus();
      await page.keyboard.press("Enter");
    };
    await isWaiting(page);
    await enter(page.getByRole("button", { name: "Show my invoice" }));
    await page.locator("#guarded .outcomes", { hasText: TRAP }).waitFor();
    await isWaiting(page);
    await enter(drawn(page, "#guarded"));
    await page.locator("#guarded").getByText(INVOICE).waitFor();
    await isWaiting(page);
    // The lying button is the next one behind the good one.
    await drawn(page, "#direct").first().focus();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Space");
    await page.locator("#direct .message.harmful", { hasText: "Sent $499.00" }).waitFor();
    await isWaiting(page);
    await inspect("card");
    await enter(page.getByRole("button", { name: "Load a hacked ad" }));
    await page.locator("#guarded .outcomes", { hasText: FORGED }).waitFor();
    await isWaiting(page);
    await inspect("ad");
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE,
);

const MARKUP = "<img src=x onerror=alert(1)><b>bold</b>";

/** An agent that draws what the page must not draw: other components, markup, a circle, and a tree without end. */
function* playHostileDrawing({ threadId, runId }: RunAgentInput): Generator<Step> {
  const components = [
    { id: "root", component: "Column", children: ["markup", "frame", "circle", "none", "root"] },
    { id: "markup", component: "Text", text: MARKUP, variant: { toString: 1 } },
    { id: "frame", component: "Iframe", url: "https://evil.example/", children: ["markup"] },
    { id: "circle", component: "Row", children: Array.from({ length: 50 }, () => "circle") },
    { id: "none", component: "Text", text: { path: "/secret" } },
    null,
  ];
  yield { type: "RUN_STARTED", threadId, runId };
  yield {
    type: "ACTIVITY_SNAPSHOT",
    messageId: `hostile-${runId}`,
    activityType: "a2ui-surface",
    content: {
      a2ui_operations: [
        { version: "v0.9", createSurface: { surfaceId: "h", catalogId: "c" } },
        { version: "v0.9", updateComponents: { surfaceId: "h", components } },
      ],
    },
  };
  yield { type: "RUN_FINISHED", threadId, runId };
}

test.skipIf(isMissing)(
  "the page draws text as text, other components as nothing, and a circle to a limit",
  async () => {
    const other = await startDemo(0, { play: playHostileDrawing });
    try {
      const page = await open({}, other.url);
      const card = page.locator("#direct .drawn");
      await card.waitFor();
      expect(await card.locator(".text").first().textContent()).toBe(MARKUP);
      expect(await card.locator("img, b, iframe").count()).toBe(0);
      expect(await card.locator("*").count()).toBeLessThanOrEqual(101);
      expect(await page.locator("#guarded .drawn").count()).toBe(0);
      expect(await page.locator(".message.error").count()).toBe(0);
      await page.context().close();
    } finally {
      await other.close();
    }
  },
  PATIENCE,
);
