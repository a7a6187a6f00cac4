import { findBrowser, sseFrame, startPostgres } from "@countersign/testkit";
import type { FakeScript, RunningPostgres } from "@countersign/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServed } from "../../../packages/gateway/src/testing/served.js";
import type { Served } from "../../../packages/gateway/src/testing/served.js";
import { openConsole, PATIENCE, writeCandidate } from "./testing/open-console.js";
import type { OpenedConsole } from "./testing/open-console.js";

const POLICY = `hushspec: "0.1.0"
rules:
  ag_ui: { allow_display_without_capability: true, max_events_per_second: 100000 }
  ag_ui_inbound: { allow_classifications: [display, mutate, submit] }
`;
const DELTAS = 4100;

/** Says very much on a run whose id begins with `long`. */
const AGENT: FakeScript = ({ body }) => {
  const { threadId, runId } = JSON.parse(body) as { threadId: string; runId: string };
  const count = runId.startsWith("long") ? DELTAS : 1;
  const text = { messageId: "m", delta: "x" };
  return {
    pieces: [
      sseFrame({ type: "RUN_STARTED", threadId, runId }),
      sseFrame({ type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant" }),
      ...Array.from({ length: count }, () => sseFrame({ type: "TEXT_MESSAGE_CONTENT", ...text })),
      sseFrame({ type: "TEXT_MESSAGE_END", messageId: "m" }),
      sseFrame({ type: "RUN_FINISHED", threadId, runId }),
    ],
  };
};

const hasNoBrowser = findBrowser() === undefined;
let database: RunningPostgres;
let opened: OpenedConsole;
let other: Served;
beforeAll(async () => {
  if (hasNoBrowser) return;
  database = await startPostgres();
  const config = `receipts: { store: "${database.url}", origin: "console.example/log" }\n`;
  opened = await openConsole(POLICY, AGENT, config);
  other = await startServed(AGENT, { policy: POLICY, config, beside: opened.served });
}, PATIENCE);
afterAll(async () => {
  await other?.stop();
  await opened?.stop();
  await database?.stop();
}, PATIENCE);

async function talk(served: Served, session: string, run: string): Promise<void> {
  const response = await fetch(`${served.running.dataUrl}/agents/support?session=${session}`, {
    method: "POST",
    body: JSON.stringify({
      protocolVersion: "1.0",
      threadId: `t-${run}`,
      runId: run,
      messages: [],
    }),
  });
  await response.text();
}

test.skipIf(hasNoBrowser)(
  "decisions of every gateway on the log are seen from one, all together or of one of them",
  async () => {
    await talk(opened.served, "anna", "run-anna");
    await talk(other, "bert", "run-bert");
    const page = await opened.open("#/overview");
    const names = page
      .getByRole("region", { name: "Gateways that write to this log" })
      .getByRole("link");
    await expect.poll(() => names.count()).toBe(2);
    await page.goto(`${opened.served.running.controlUrl}/console#/live`);
    const rows = page.locator(".feed-all [role=row]");
    await rows.filter({ hasText: "anna" }).first().waitFor();
    expect(await rows.filter({ hasText: "bert" }).count()).toBe(0);
    await page.getByLabel("Gateway").selectOption("all");
    await rows.filter({ hasText: "bert" }).first().waitFor();
    await page.getByLabel("Group repeats").uncheck();
    await expect.poll(() => rows.count()).toBe(12);
    await talk(other, "cleo", "run-cleo");
    await rows.filter({ hasText: "cleo" }).first().waitFor();
    await page.getByLabel("Gateway").selectOption({ index: 2 });
    await expect.poll(() => rows.filter({ hasText: "bert" }).count()).toBe(6);
    expect(await rows.filter({ hasText: "anna" }).count()).toBe(0);
    expect(page.url()).toContain("gateway=");
    expect(opened.pageErrors).toEqual([]);
    await page.context().close();
  },
  PATIENCE,
);

test.skipIf(hasNoBrowser)(
  "a timeline of thousands of receipts is walked in both directions, with the keyboard",
  async () => {
    await talk(opened.served, "much", "long-1");
    const page = await opened.open("#/runs/much/long-1");
    const total = (DELTAS + 5).toLocaleString("en");
    const at = (range: string): Promise<void> =>
      page.getByText(`${range} of ${total}`, { exact: true }).waitFor();
    const press = (name: RegExp): Promise<void> =>
      page.getByRole("button", { name }).press("Enter");
    await at("1 to 2,000");
    expect(await page.getByRole("button", { name: /Earlier/ }).isDisabled()).toBe(true);
    await press(/Later/);
    await at("2,001 to 4,000");
    await press(/Later/);
    await at(`4,001 to ${total}`);
    expect(await page.getByRole("button", { name: /Later/ }).isDisabled()).toBe(true);
    await press(/Earlier/);
    await at("2,001 to 4,000");
    await press(/End/);
    await at(`2,106 to ${total}`);
    await press(/Earlier/);
    await at("106 to 2,105");
    await press(/Beginning/);
    await at("1 to 2,000");
    await page.getByRole("img", { name: /^2000 receipts in order/ }).waitFor();
    expect(opened.pageErrors).toEqual([]);
    await page.context().close();
  },
  PATIENCE,
);

test.skipIf(hasNoBrowser)(
  "another policy is compared with the one that decides: what opens, what closes, and on record",
  async () => {
    const page = await opened.open("#/policy");
    await writeCandidate(page, "ag_ui: { transprt: sse }");
    await page.getByRole("button", { name: "Compare" }).click();
    await page.getByText("The candidate cannot be loaded.").waitFor();
    await page.getByText("candidate:1:10").waitFor();
    // The browser itself tells of the 422, which is what was asked for.
    opened.pageErrors.length = 0;
    await writeCandidate(
      page,
      POLICY.replace("display, mutate, submit", "display").replace("100000", "200000"),
    );
    await page.getByRole("button", { name: "Compare" }).click();
    await page
      .getByText("The candidate allows some events and blocks others, or the effect is unknown.")
      .waitFor();
    const inbound = page.getByRole("region", { name: "ag_ui_inbound" });
    await inbound.getByText("nothing → a token with its scope").first().waitFor();
    await page.getByText("0 would change").waitFor();
    await page.getByRole("button", { name: "Insert the active policy" }).click();
    await page.getByRole("button", { name: "Compare" }).click();
    await page.getByText("The candidate allows the same events as the active policy.").waitFor();
    expect(opened.pageErrors).toEqual([]);
    await page.context().close();
  },
  PATIENCE,
);
