import { findBrowser, sseFrame } from "@countersign/testkit";
import type { FakeScript } from "@countersign/testkit";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { entry } from "./testing/decisions.js";
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

function hostileEntry(): unknown {
  return entry(
    0,
    {
      allowed: false,
      agent_id: HOSTILE,
      session_id: HOSTILE,
      event_type: { custom: HOSTILE },
      target: { component_type: HOSTILE, component_id: HOSTILE },
      denial_reason: HOSTILE,
    },
    {
      principal: HOSTILE,
      client_address: HOSTILE,
      tool: HOSTILE,
      path: HOSTILE,
      rule: HOSTILE,
      run_id: HOSTILE,
      thread_id: HOSTILE,
      further_rules: [HOSTILE],
    },
  );
}

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
    principal: HOSTILE,
    client_address: HOSTILE,
    forwarded: 1,
    blocked: 1,
  };
  const hash = "0".repeat(64);
  const operator = HOSTILE;
  const answers: readonly (readonly [RegExp, unknown])[] = [
    [
      /\/v1\/agents$/,
      {
        items: [
          {
            name: HOSTILE,
            url: HOSTILE,
            health: "failing",
            open_runs: 1,
            recent_failures: [{ at: 0, code: HOSTILE, reason: HOSTILE }],
            contained: { operator, at: 0 },
          },
        ],
      },
    ],
    [
      /\/v1\/capabilities\?/,
      {
        items: [
          {
            id: HOSTILE,
            agent: HOSTILE,
            session: HOSTILE,
            principal: HOSTILE,
            scopes: [HOSTILE],
            expires_at: 4e9,
            issued_at: 0,
            operator,
            revoked: false,
          },
        ],
      },
    ],
    [
      /\/v1\/policy\/history$/,
      {
        items: [{ hash, applied_at: 0, operator, source: "api", comment: HOSTILE, text: HOSTILE }],
      },
    ],
    [
      /\/v1\/receipts\/counts\?by=(rule|principal|tool|agent_id)/,
      {
        counts: ["rule", "principal", "tool", "agent_id"].map((name) => ({
          count: 3,
          from: Date.now(),
          values: { [name]: HOSTILE },
        })),
      },
    ],
    [/\/v1\/receipts\?/, { entries: [hostileEntry()] }],
    [
      /\/evidence(?:\?|$)/,
      { items: [{ seq: 0, payload: { type: "CUSTOM", name: HOSTILE, value: HOSTILE } }] },
    ],
  ];
  for (const [address, json] of answers)
    await page.route(address, (route) => route.fulfill({ json }));
  await page.route(/\/v1\/policy$/, async (route) => {
    const answer = await route.fetch();
    const policy = (await answer.json()) as { rules: string[] };
    const changed = {
      ...policy,
      file: HOSTILE,
      text: `# ${HOSTILE}\nname: 1\n`,
      writable: true,
      rules: [HOSTILE, ...policy.rules],
      lines: { [HOSTILE]: 1 },
    };
    await route.fulfill({ response: answer, json: changed });
  });
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
    const page = await opened.open("#/live?grouped=no");
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
      ["#/live?grouped=no", "CUSTOM"],
      ...places.map((place) => [place, "Entry as recorded"] as const),
      ["#/overview", "Gateways that write to this log"],
      ["#/runs", "\\u{202e}gpj.exe"],
      ["#/runs?view=sessions", "\\u{202e}gpj.exe"],
      [run, "Conversation"],
      [filtered, "matching entries"],
      ["#/overview", "By principal"],
      ["#/policy", "Open in editor"],
      ["#/agents", "Stopped by"],
      ["#/capabilities", "Issued tokens"],
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
    // The browser itself reports that no rule has the hostile name.
    expect(
      opened.pageErrors.filter((line) => !/\/v1\/(explain|policy\/schema)/.test(line)),
    ).toEqual([]);
    opened.pageErrors.length = 0;
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
