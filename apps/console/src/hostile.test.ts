import { findBrowser, sseFrame } from "@countersign/testkit";
import type { FakeScript } from "@countersign/testkit";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openConsole, PATIENCE } from "./testing/open-console.js";
import type { OpenedConsole } from "./testing/open-console.js";

const MARKUP = `<img src=x onerror="window.ran=1"><script>window.ran=1</script>'"&lt;{{1}}`;
/** Turns what follows around, hides a letter, and is longer than any cell. */
const UNSEEN = `\u202Egpj.exe\u2066\u200B\u00AD\u{E0041}`;
const HOSTILE = `${MARKUP}${UNSEEN}javascript:alert(1)`.padEnd(1000, "W");
/** Names that a gateway accepts; it refuses control, bidirectional and tag characters. */
const TAKEN = `${MARKUP}\u200B\u00ADjavascript:alert(1)`.padEnd(1000, "W");
/** Ids hold no markup either. */
const RUN = `run {{1}}'"\u200B\u00ADjavascript:alert(1)`.padEnd(256, "W");

/** The name of a rule has at most 64 characters. */
const RULE = MARKUP.slice(0, 34);

const POLICY = `hushspec: "0.1.0"
name: ${JSON.stringify(MARKUP)}
rules:
  ag_ui: { enabled: true, allow_display_without_capability: true, restricted_classifications: [] }
  ag_ui_inbound: { enabled: true, default: allow }
  velocity: [{ id: ${JSON.stringify(RULE)}, max_invocations: 2, window_seconds: 60, scope: session }]
`;

/** An agent that names everything it can after an attack. */
const HOSTILE_AGENT: FakeScript = (request) => {
  const { threadId, runId } = JSON.parse(request.body) as { threadId: string; runId: string };
  const events = [
    { type: "RUN_STARTED", threadId, runId },
    { type: "CUSTOM", name: TAKEN, value: 1 },
    { type: "ACTIVITY_SNAPSHOT", messageId: "m", activityType: TAKEN, content: {} },
    { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: TAKEN },
    { type: "TOOL_CALL_END", toolCallId: "c" },
    { type: "RUN_FINISHED", threadId, runId },
  ];
  return { pieces: events.map(sseFrame) };
};

const hasNoBrowser = findBrowser() === undefined;
let opened: OpenedConsole;
beforeAll(async () => {
  if (hasNoBrowser) return;
  opened = await openConsole(POLICY, HOSTILE_AGENT);
  await opened.talk("mallory", RUN);
}, PATIENCE);
afterAll(() => opened?.stop());

/** A gateway takes only plain names of sessions and agents; here is one that would not. */
async function serveHostileNames(page: Page): Promise<void> {
  const run = {
    session_id: HOSTILE,
    run_id: HOSTILE,
    gateway: HOSTILE,
    thread_id: HOSTILE,
    agent: HOSTILE,
    transport: "sse",
    status: "running",
    failure: HOSTILE,
    started_at: 0,
    forwarded: 1,
    blocked: 1,
  };
  const session = { id: HOSTILE, gateways: [HOSTILE], created_at: 0, last_seen: 0, runs: [run] };
  const counts = { forwarded: 1, blocked: 1, capabilities: 0 };
  await page.route("**/v1/status", async (route) => {
    const answer = await route.fetch();
    const status = (await answer.json()) as { gateways: object[] };
    const gateways = [...status.gateways, { ...status.gateways[0], id: HOSTILE, version: HOSTILE }];
    await route.fulfill({ response: answer, json: { ...status, gateways } });
  });
  await page.route(/\/v1\/runs/, (route) => route.fulfill({ json: { runs: [run] } }));
  await page.route(/\/v1\/sessions\?/, (route) =>
    route.fulfill({ json: { sessions: [{ ...session, ...counts }] } }),
  );
}

test.skipIf(hasNoBrowser)(
  "names full of markup and unseen characters are text, visibly escaped, run nothing and break no page",
  async () => {
    const page = await opened.open("#/live");
    page.on("dialog", (dialog) => opened.pageErrors.push(`dialog ${dialog.message()}`));
    await page.getByText("CUSTOM").first().waitFor();
    const places = await page.evaluate(() =>
      [...document.querySelectorAll<HTMLAnchorElement>("a.whole")].map((link) => link.hash),
    );
    expect(places.length).toBeGreaterThan(4);
    await serveHostileNames(page);
    const run = `#/runs/mallory/${encodeURIComponent(RUN)}`;
    const filtered = `#/receipts?${new URLSearchParams({ run_id: RUN }).toString()}`;
    const seen: string[] = [];
    /** Each page with a text that it shows only once its data has arrived. */
    const pages: readonly (readonly [place: string, text: string])[] = [
      ["#/live", "CUSTOM"],
      ...places.map((place) => [place, "Entry as recorded"] as const),
      ["#/now", "Gateways that write to this log"],
      ["#/runs", "\\u{202e}gpj.exe"],
      ["#/runs?view=sessions", "\\u{202e}gpj.exe"],
      [run, "mallory"],
      [filtered, "chat-window"],
      ["#/policy", "Full policy as loaded"],
    ];
    for (const [place, text] of pages) {
      await page.evaluate((hash) => void (location.hash = hash), place);
      await page.locator("main h1").waitFor();
      await page.locator("main").getByText(text).first().waitFor({ state: "attached" });
      await page.locator("main .pulse").first().waitFor({ state: "detached" });
      seen.push((await page.locator("main").textContent()) ?? "");
      const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect([place.slice(0, 30), beyond]).toEqual([place.slice(0, 30), 0]);
    }
    const all = seen.join("\n");
    expect(all).toContain(`<img src=x onerror="window.ran=1">`);
    expect(all).toContain("\\u{202e}gpj.exe\\u{2066}\\u{200b}\\u{ad}\\u{e0041}");
    expect(all).toContain("Gateways that write to this log");
    expect(all).not.toMatch(/[\u202E\u2066\u200B]/u);
    expect(await page.evaluate(() => "ran" in window)).toBe(false);
    expect(await page.locator("main img:not([role])").count()).toBe(0);
    expect(await page.evaluate(() => document.querySelectorAll("script").length)).toBe(1);
    expect(opened.pageErrors).toEqual([]);
    await page.context().close();
  },
  PATIENCE,
);

test.skipIf(hasNoBrowser)(
  "what is not ours is refused by the page's policy, inline scripts and text as markup too",
  async () => {
    const page = await opened.open("");
    const outcome = await page.evaluate(async () => {
      const attempts: Record<string, boolean> = {};
      const attempt = async (name: string, act: () => unknown): Promise<void> => {
        try {
          await act();
          attempts[name] = true;
        } catch {
          attempts[name] = false;
        }
      };
      await attempt("markup", () => {
        document.body.insertAdjacentHTML("beforeend", "<b>x</b>");
      });
      await attempt("elsewhere", () => fetch("https://example.com/"));
      const script = document.createElement("script");
      await attempt("script", () => {
        script.textContent = "window.ran = 1";
      });
      return { attempts, ran: "ran" in window };
    });
    expect(outcome).toEqual({
      attempts: { markup: false, elsewhere: false, script: false },
      ran: false,
    });
    await expect.poll(() => opened.pageErrors.join("\n")).toContain("policy: connect-src");
    opened.pageErrors.length = 0;
    await page.context().close();
  },
  PATIENCE,
);
