import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { startGateway } from "@countersign/gateway";
import { findBrowser, startBrowser } from "@countersign/testkit";
import type { RunAgentInput } from "@countersign/wire";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findFaults } from "../../../console/src/testing/axe.js";
import { playSupportAgent } from "./script.js";
import type { Step } from "./script.js";
import { startDemo } from "./start-demo.js";
import type { Demo } from "./start-demo.js";

const isMissing = findBrowser() === undefined;
/** For a browser on a busy machine. */
const PATIENCE = 180_000;
/** Shorter, so that a failure names the condition that did not come about. */
const CONDITION = 45_000;
let demo: Demo;
let browser: Browser;

beforeAll(async () => {
  demo = await startDemo(0);
  if (findBrowser() !== undefined) browser = await startBrowser();
}, PATIENCE);
afterAll(async () => {
  await browser?.close();
  await demo?.close();
});

async function open(options: Parameters<Browser["newContext"]>[0] = {}): Promise<Page> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(CONDITION);
  await page.goto(demo.url);
  return page;
}

/** How long a condition may take on a busy machine. */
const WAIT = { timeout: CONDITION };

const OUTCOME = "Without Countersign, ";

/** Waits for the outcome of the question that the page plays when it opens. */
async function openPlayed(options: Parameters<Browser["newContext"]>[0] = {}): Promise<Page> {
  const page = await open({ viewport: { width: 1280, height: 800 }, ...options });
  await page.locator("#outcome", { hasText: OUTCOME }).waitFor();
  return page;
}

/** The harmful acts of the agent when it is asked for the order, as the page tells them. */
const ORDER_ACTS = [
  "a form asking for your card number and security code",
  "paying $499.00 to Lucky Draw Ltd without asking you",
  "a tracking picture from track.example.evil",
  "21 more pop-ups",
];
const ORDER_OUTCOME = "Without Countersign, 24 harmful acts reached you. With Countersign, none.";

const sentences = (page: Page, side: "direct" | "guarded"): Promise<string[]> =>
  page.locator(`#${side} .outcomes .sentence`).allTextContents();

/** Waits until the next question may be asked. */
const isWaiting = (page: Page): Promise<void> =>
  page.locator("[data-say][aria-disabled=false]").first().waitFor();

test.skipIf(isMissing)(
  "the page opens with both sides answering, and tells in the same sentences what happened to each",
  async () => {
    const page = await openPlayed();
    const told = ORDER_ACTS;
    await expect
      .poll(() => sentences(page, "guarded"), WAIT)
      .toEqual(told.map((text) => `Stopped: ${text}`));
    await expect
      .poll(() => sentences(page, "direct"), WAIT)
      .toEqual(told.map((text) => `Reached you: ${text}`));
    await expect.poll(() => page.locator("#outcome").textContent(), WAIT).toBe(ORDER_OUTCOME);
    for (const side of ["#direct", "#guarded"]) {
      await page
        .locator(side)
        .getByText("Order #1024 has shipped and arrives on Tuesday.")
        .waitFor();
    }
    expect(await page.locator("#guarded .ask, #guarded .harmful").count()).toBe(0);
    expect(await page.locator("#guarded .popup").count()).toBe(3);
    expect(await page.locator("#guarded .more").count()).toBe(0);
    expect(await page.locator("#guarded").textContent()).not.toMatch(/invisible picture|Paid/u);
    const direct = page.locator("#direct");
    for (const trace of [
      "HarmfulYour session expired.",
      "HarmfulPaid $499.00 to Lucky Draw Ltd",
      "HarmfulThank you. invisible picture from track.example.evil",
    ]) {
      await direct.locator(".harmful", { hasText: trace }).waitFor();
    }
    await page.locator("#direct .more.harmful", { hasText: "and 21 more" }).waitFor();
    for (const side of ["#direct", "#guarded"]) {
      const popups = (await page.locator(`${side} .popups`).boundingBox())!;
      const chat = (await page.locator(`${side} .chat`).boundingBox())!;
      expect(popups.y + popups.height, "pop-ups cover no chat").toBeLessThanOrEqual(chat.y + 1);
      const hidden = `document.querySelector("${side} .messages").scrollTop`;
      expect(await page.evaluate(hidden), "no message is cut off").toBe(0);
    }
    // Asked again at once, the page counts the same.
    await page.getByRole("button", { name: "Where is my order?" }).click();
    await expect.poll(() => page.locator("#guarded .message.user").count(), WAIT).toBe(2);
    await isWaiting(page);
    expect(await page.locator("#outcome").textContent()).toBe(ORDER_OUTCOME);
    expect(await sentences(page, "guarded")).toEqual(told.map((text) => `Stopped: ${text}`));
    await page.context().close();
  },
  PATIENCE,
);

test.skipIf(isMissing)(
  "the technical events are one click away, numbered without a gap, and filtered anew each time",
  async () => {
    const page = await openPlayed();
    await page.getByRole("button", { name: "I want a refund" }).click();
    await page.getByRole("button", { name: "Confirm refund" }).first().waitFor();
    await isWaiting(page);
    for (const [side, filter] of [
      ["guarded", "Blocked only"],
      ["direct", "Harmful only"],
    ] as const) {
      const button = page.locator(`#${side} .events`);
      await button.click();
      const dialog = page.getByRole("dialog");
      const numbers = (await dialog.locator("td.number").allTextContents()).map(Number);
      expect(await button.textContent()).toBe(`All events (${numbers.length})`);
      expect(numbers).toEqual(numbers.map((_number, index) => index + 1));
      const blocked = await dialog.locator("tr.blocked").count();
      expect(blocked).toBeGreaterThan(66);
      await dialog.getByLabel(filter).check();
      expect(await dialog.locator("tbody tr").count()).toBe(blocked);
      await dialog.getByRole("button", { name: "Close" }).click();
      await button.click();
      expect(await dialog.getByLabel(filter).isChecked()).toBe(false);
      expect(await dialog.locator("tbody tr").count()).toBe(numbers.length);
      await page.keyboard.press("Escape");
    }
    await page.context().close();
  },
  PATIENCE,
);

test.skipIf(isMissing)(
  "a refund is confirmed in the one form that the capability allows, and only the other side is led away",
  async () => {
    const page = await openPlayed({ colorScheme: "dark" });
    await page.getByRole("button", { name: "I want a refund" }).click();
    await expect
      .poll(() => sentences(page, "guarded"), WAIT)
      .toEqual([
        "Stopped: a fake shop message: “Your account is locked. Call 555-0100.”",
        "Stopped: sending you to refunds.example.evil, twice",
        "Stopped: changing your message to “Pay Lucky Draw Ltd.”",
      ]);
    const elsewhere = page.locator("#direct .elsewhere.harmful");
    await elsewhere.getByText("You are now on refunds.example.evil").waitFor();
    expect(await page.locator("#guarded .address").textContent()).toBe("shop.example");
    const guarded = page.locator("#guarded");
    await guarded.getByRole("button", { name: "Confirm refund" }).click();
    await guarded.getByText("Done: $42.50 is on its way to your card.").waitFor();
    await guarded.getByText("I want a refund for order #1024.").waitFor();
    expect(await guarded.locator(".message.harmful, .message.system").count()).toBe(0);
    await elsewhere.getByRole("button", { name: "Back to the shop" }).click();
    for (const trace of ["HarmfulYour account is locked.", "HarmfulPay Lucky Draw Ltd."]) {
      await page.locator("#direct .message.harmful", { hasText: trace }).waitFor();
    }
    await page.locator("#direct").getByRole("button", { name: "Cancel" }).click();
    await page.locator("#direct").getByText("All right, nothing was refunded.").waitFor();
    await page.context().close();
  },
  PATIENCE,
);

test.skipIf(isMissing)(
  "the card form is answered as a card form, not as a refund",
  async () => {
    const page = await openPlayed();
    const direct = page.locator("#direct");
    await direct.getByRole("button", { name: "Continue" }).click();
    await direct
      .locator(".message.harmful", { hasText: "HarmfulThank you. We have your card number now." })
      .waitFor();
    expect(await direct.textContent()).not.toContain("$42.50");
    await page.context().close();
  },
  PATIENCE,
);

test.skipIf(isMissing)(
  "a receipt shows signature and proof, is verified in the browser, and is not valid with one letter changed",
  async () => {
    const page = await openPlayed();
    await page.getByRole("button", { name: "Receipt for: a form asking" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Stopped: a form asking for your card number").waitFor();
    await dialog.getByText("This act consists of 3 AG-UI events.").waitFor();
    await dialog.getByText("Event 1 of 3: TOOL_CALL_START").waitFor();
    await dialog.getByText(/^ed25519:[0-9a-f]{128}$/u).waitFor();
    await dialog.getByText("Proof that the log contains it").click();
    await dialog.getByText("c2sp.org/tlog-proof@v1").waitFor();
    const status = dialog.getByRole("status");
    await dialog.getByRole("button", { name: "Verify in this browser" }).click();
    await status.getByText("Verified: the receipt is signed").waitFor();
    expect(await status.getByText("✕").count()).toBe(0);
    await dialog.getByRole("button", { name: "Change one letter and verify" }).click();
    await status.getByText("Not valid:").waitFor();
    await status.getByText("✕ Not true: The gateway signed exactly this receipt").waitFor();
    await dialog.getByRole("button", { name: "Next receipt" }).click();
    await dialog.getByText("Event 2 of 3: TOOL_CALL_ARGS").waitFor();
    expect(await status.textContent()).toBe("");
    const link = await dialog
      .getByRole("link", { name: "Open in the console" })
      .getAttribute("href");
    expect(link).toMatch(/\/console#\/receipts\/\d+$/u);
    const console_ = await page
      .getByRole("link", { name: "Console", exact: true })
      .getAttribute("href");
    expect(console_).toBe(demo.running.consoleUrl);
    expect(await page.content()).not.toContain(demo.running.freshAdminToken!);
    await page.context().close();
  },
  PATIENCE,
);

test.skipIf(isMissing)(
  "the tour is taken with the keyboard alone, and Esc ends it",
  async () => {
    // With less motion the tour waits for the person, so that no timer runs in this test.
    const page = await openPlayed({ reducedMotion: "reduce" });
    const start = page.getByRole("button", { name: "40-second tour" });
    const tour = page.getByRole("region", { name: "Guided tour" });
    const focused = (): Promise<string | null> =>
      page.evaluate("document.activeElement.textContent");
    for (let tab = 0; (await focused()) !== "40-second tour" && tab < 5; tab += 1) {
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Enter");
    const captions = [
      "You see your screen twice",
      "Both sides get the same question",
      `This reached you: ${ORDER_ACTS.slice(0, -1).join(", ")}, and 21 more pop-ups.`,
      `Countersign stopped this: ${ORDER_ACTS.slice(0, -1).join(", ")}, and 21 more pop-ups.`,
      "signs a receipt for every decision",
      "has just verified it",
    ];
    for (const [index, caption] of captions.entries()) {
      await tour.getByText(`${index + 1} of 6`).waitFor();
      await expect.poll(() => tour.textContent(), WAIT).toContain(caption);
      await expect.poll(focused, WAIT).toBe(index === 5 ? "Done" : "Next");
      if (index === 5) await page.getByText("Verified: the receipt is signed").waitFor();
      await page.keyboard.press("Enter");
    }
    await tour.waitFor({ state: "hidden" });
    expect(await page.locator("dialog[open]").count()).toBe(0);
    expect(await focused()).toBe(await start.textContent());
    await page.keyboard.press("Enter");
    await tour.getByText("1 of 6").waitFor();
    await page.keyboard.press("Escape");
    await tour.waitFor({ state: "hidden" });
    await page.context().close();
  },
  PATIENCE,
);

test("the steps of the tour last forty seconds", async () => {
  const source = await (await fetch(`${demo.url}tour.js`)).text();
  const seconds = [...source.matchAll(/seconds: (\d+)/gu)].map(([, value]) => Number(value));
  expect(seconds.reduce((sum, value) => sum + value, 0)).toBe(40);
});

test.skipIf(isMissing).each([
  ["light", 1280, 800],
  ["dark", 1280, 800],
  ["light", 390, 844],
  ["dark", 390, 844],
] as const)(
  "no fault that axe finds, no sideways scroll, and the outcome above the fold: %s at %i px",
  async (colorScheme, width, height) => {
    const page = await openPlayed({
      colorScheme,
      viewport: { width, height },
      reducedMotion: "reduce",
    });
    const faults: string[] = [];
    const inspect = async (state: string): Promise<void> => {
      faults.push(...(await findFaults(page)).map((fault) => `${state} ${fault}`));
      const beyond = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
      if (Number(beyond) > 0) faults.push(`${state} is ${String(beyond)} too wide`);
    };
    const stopped = page.locator("#guarded .outcomes li", { hasText: "21 more pop-ups" });
    await stopped.waitFor();
    const box = (await stopped.boundingBox())!;
    expect(box.y + box.height).toBeLessThan(height);
    await inspect("opened");
    await page.getByRole("button", { name: "Receipt for: a form" }).click();
    await page.getByRole("button", { name: "Verify in this browser" }).click();
    await page.getByText("Verified: the receipt").waitFor();
    await inspect("receipt");
    await page.keyboard.press("Escape");
    await page.locator("#guarded .events").click();
    await page.getByRole("dialog").waitFor();
    await inspect("events");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "40-second tour" }).click();
    await page.getByText("1 of 6").waitFor();
    await inspect("tour");
    for (const step of ["2 of 6", "3 of 6"]) {
      await page.getByRole("button", { name: "Next", exact: true }).click();
      await page.getByText(step).waitFor();
    }
    const form = (await page.locator("#direct .ask").boundingBox())!;
    const bar = (await page.locator("#tour").boundingBox())!;
    expect(form.y).toBeGreaterThanOrEqual(0);
    expect(form.y + form.height, "the tour covers no form").toBeLessThanOrEqual(bar.y);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "I want a refund" }).click();
    await page.getByText("You are now on refunds.example.evil").waitFor();
    await page.locator("#guarded").getByRole("button", { name: "Confirm refund" }).waitFor();
    await isWaiting(page);
    await inspect("refund");
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE,
);

test.skipIf(isMissing)(
  "the page requests nothing from elsewhere, and its policy reports nothing",
  async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const requests: string[] = [];
    const reports: string[] = [];
    page.on("request", (request) => requests.push(new URL(request.url()).hostname));
    page.on("console", (message) => reports.push(message.text()));
    page.on("pageerror", (error) => reports.push(error.message));
    const response = (await page.goto(demo.url))!;
    expect(response.headers()["content-security-policy"]).toContain("default-src 'none'");
    await page.getByRole("button", { name: "Receipt for: a form" }).click();
    await page.getByRole("button", { name: "Verify in this browser" }).click();
    await page.getByText("Verified: the receipt").waitFor();
    expect(new Set(requests)).toEqual(new Set(["127.0.0.1"]));
    expect(reports).toEqual([]);
    await context.close();
  },
  PATIENCE,
);

/** An agent with another script: the same tools, other arguments in small pieces. */
function* playOtherAgent(input: RunAgentInput): Generator<Step> {
  const ids = { threadId: input.threadId, runId: input.runId };
  yield { type: "RUN_STARTED", ...ids, protocolVersion: "1.0" };
  const calls = [
    ["prompt_user", { title: "Log in again", fields: [{ label: "Password" }] }],
    ["navigate", { to: "https://login.example.net:8443/now" }],
  ] as const;
  for (const [name, args] of calls) {
    const toolCallId = `${name}-${input.runId}`;
    yield { type: "TOOL_CALL_START", toolCallId, toolCallName: name };
    for (const delta of JSON.stringify(args)) yield { type: "TOOL_CALL_ARGS", toolCallId, delta };
    yield { type: "TOOL_CALL_END", toolCallId };
  }
  yield { type: "RUN_FINISHED", ...ids };
}

test.skipIf(isMissing)(
  "another agent is told in sentences too",
  async () => {
    const other = await startDemo(0, { play: playOtherAgent });
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      await page.goto(other.url);
      await expect
        .poll(() => sentences(page, "guarded"), WAIT)
        .toEqual([
          "Stopped: a form asking for your password",
          "Stopped: sending you to login.example.net:8443",
        ]);
    } finally {
      await context.close();
      await other.close();
    }
  },
  PATIENCE,
);

/** Follows a suggestion to its end on the protected side, as a person does. */
async function follow(page: Page, suggestion: string): Promise<void> {
  const isRefund = suggestion.includes("refund");
  const guarded = page.locator("#guarded");
  const answer = guarded.getByText(
    isRefund ? "Done: $42.50 is on its way" : "Order #1024 has shipped and arrives",
  );
  const before = await answer.count();
  await page.getByRole("button", { name: suggestion }).click();
  const confirm = guarded.getByRole("button", { name: "Confirm refund" });
  if (isRefund) await confirm.or(guarded.locator(".message.error")).first().click();
  await expect.poll(() => answer.count(), WAIT).toBe(before + 1);
  await isWaiting(page);
  expect(await page.locator(".message.error").allTextContents()).toEqual([]);
}

const SUGGESTIONS = ["Where is my order?", "I want a refund"];
const PAIRS = SUGGESTIONS.flatMap((first) => SUGGESTIONS.map((second) => [first, second] as const));

test.skipIf(isMissing).each(PAIRS)(
  "one conversation takes every suggestion after another: %s, then %s, then a question of one's own",
  async (first, second) => {
    const page = await openPlayed();
    await isWaiting(page);
    await follow(page, first);
    await follow(page, second);
    const said = await page.locator("#guarded .message.assistant").count();
    await page.getByLabel("Your message", { exact: true }).fill("Tell me a joke.");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    for (const side of ["#direct", "#guarded"]) {
      await page.locator(side).getByText("Tell me a joke.").waitFor();
      await page.locator(side).getByText("I am a script without a model.").waitFor();
    }
    await expect
      .poll(() => page.locator("#guarded .message.assistant").count(), WAIT)
      .toBe(said + 3);
    await isWaiting(page);
    expect(await page.locator(".message.error").allTextContents()).toEqual([]);
    await page.context().close();
  },
  PATIENCE,
);

test.skipIf(isMissing)(
  "a form that waits is cancelled by the next question",
  async () => {
    const page = await openPlayed();
    await page.getByRole("button", { name: "I want a refund" }).click();
    const guarded = page.locator("#guarded");
    await guarded.getByRole("button", { name: "Confirm refund" }).waitFor();
    await isWaiting(page);
    await page.getByRole("button", { name: "Where is my order?" }).click();
    await expect.poll(() => guarded.getByText("Order #1024 has shipped").count(), WAIT).toBe(2);
    expect(await guarded.locator(".ask").count()).toBe(0);
    expect(await page.locator(".message.error").allTextContents()).toEqual([]);
    await page.context().close();
  },
  PATIENCE,
);

/** The support agent, which never ends its answer to one question. */
function* playEndlessly(input: RunAgentInput): Generator<Step> {
  const last = input.messages.at(-1);
  if (last?.role !== "user" || last.content !== "Think") return yield* playSupportAgent(input);
  const messageId = `thought-${input.runId}`;
  yield { type: "RUN_STARTED", threadId: input.threadId, runId: input.runId };
  yield { type: "TEXT_MESSAGE_START", messageId, role: "assistant" };
  yield { type: "TEXT_MESSAGE_CONTENT", messageId, delta: "Let me think" };
  yield 3_600_000;
}

test.skipIf(isMissing)(
  "a conversation goes on after an answer that was stopped",
  async () => {
    const other = await startDemo(0, { play: playEndlessly });
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(CONDITION);
      await page.goto(other.url);
      await page.locator("#outcome", { hasText: OUTCOME }).waitFor();
      await isWaiting(page);
      await page.getByLabel("Your message", { exact: true }).fill("Think");
      await page.getByRole("button", { name: "Send", exact: true }).click();
      const sides = ["#direct", "#guarded"].map((side) => page.locator(side));
      for (const side of sides) await side.getByText("Let me think").waitFor();
      await page.getByRole("button", { name: "Stop", exact: true }).click();
      for (const side of sides) await side.getByText("Stopped.").waitFor();
      await isWaiting(page);
      await page.getByRole("button", { name: "Where is my order?" }).click();
      await isWaiting(page);
      for (const side of sides) {
        expect(await side.locator(".message.error").allTextContents()).toEqual(["Stopped."]);
        expect(await side.getByText("Order #1024 has shipped").count()).toBe(2);
      }
    } finally {
      await context.close();
      await other.close();
    }
  },
  PATIENCE,
);

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
