import { findBrowser, sseFrame } from "@countersign/testkit";
import type { FakeScript } from "@countersign/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MIXED_POLICY } from "./testing/agent.js";
import { openConsole, PATIENCE } from "./testing/open-console.js";
import type { OpenedConsole } from "./testing/open-console.js";
import { createOperators } from "./testing/operators.js";

const hasNoBrowser = findBrowser() === undefined;
const HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=1</script>\u202eevil';
const SECRET = "s3cret";

/** Speaks hostile text, calls a tool and changes the state; the last two are blocked. */
const AGENT: FakeScript = ({ body }) => {
  const { threadId, runId } = JSON.parse(body) as { threadId: string; runId: string };
  const call = { toolCallId: "c1" };
  return {
    pieces: [
      { type: "RUN_STARTED", threadId, runId },
      { type: "TEXT_MESSAGE_START", messageId: "m1", role: "assistant" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta: "I refund your order now. " },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta: HOSTILE },
      { type: "TEXT_MESSAGE_END", messageId: "m1" },
      { type: "TOOL_CALL_START", ...call, toolCallName: "refund" },
      { type: "TOOL_CALL_ARGS", ...call, delta: `{"amount":900,"token":"${SECRET}"}` },
      { type: "TOOL_CALL_END", ...call },
      { type: "STATE_DELTA", delta: [{ op: "add", path: "/order/status", value: "refunded" }] },
      { type: "RUN_FINISHED", threadId, runId },
    ].map(sseFrame),
  };
};

const operators = createOperators();
let opened: OpenedConsole;
beforeAll(async () => {
  if (hasNoBrowser) return;
  opened = await openConsole(
    `${MIXED_POLICY}  ag_ui_evidence: { redact: [token] }\n`,
    AGENT,
    "evidence: { keep: 7d, events: all }",
    operators.control,
  );
  await opened.talk("alice", "run-1");
}, PATIENCE);
afterAll(() => opened?.stop());

test.skipIf(hasNoBrowser)(
  "a run with kept payloads reads as the person saw it: withheld parts as outlines, hostile text as text",
  async () => {
    const page = await opened.open("#/runs/alice/run-1");
    const conversation = page.getByRole("region", { name: "Conversation" });
    const said = conversation.locator(".step-text .said");
    await expect.poll(() => said.textContent()).toContain("I refund your order now. <img src=x");
    expect(await said.textContent()).toContain("<script>");
    expect(await said.textContent()).not.toContain("\u202e");
    const ghost = conversation.locator(".step.ghost").filter({ hasText: "refund" }).first();
    await ghost.getByText("Withheld: the person did not see this.").waitFor();
    expect(await ghost.locator(".said").textContent()).toContain('"amount":900');
    expect(await conversation.textContent()).not.toContain(SECRET);
    await conversation.getByText("The policy removed parts of 1 payload").waitFor();
    expect(await page.locator("img, script:not([src])").count()).toBe(0);
    expect(await page.title()).not.toBe("1");
    expect(opened.pageErrors).toEqual([]);
    await page.context().close();
  },
  PATIENCE,
);

test.skipIf(hasNoBrowser)(
  "an operator shows the payload of a receipt, which writes a receipt; a viewer is told the role",
  async () => {
    const page = await opened.open("#/receipts/4");
    await page.getByRole("button", { name: "Show payload" }).click();
    const shown = page.getByLabel("What was hashed as JSON");
    await expect.poll(() => shown.textContent()).toContain("<script>");
    await page.getByText("Its SHA-256 is the payload_hash of the receipt.").waitFor();
    const acts = await opened.served.control(
      "/v1/receipts?event_type=custom:operator.evidence-read",
    );
    const { entries } = (await acts.json()) as { entries: object[] };
    expect(entries.length).toBeGreaterThanOrEqual(1);
    await page.context().close();

    const other = await opened.open("#/receipts/4", {
      token: operators.tokens.get("viewer") ?? "",
    });
    const button = other.getByRole("button", { name: "Show payload" });
    await button.waitFor();
    expect(await button.isDisabled()).toBe(true);
    await other.getByText("This needs the role operator; your role is viewer.").waitFor();
    await other.goto(`${opened.served.running.controlUrl}/console#/runs/alice/run-1`);
    await other.getByText("Structure only: the content of a conversation needs").waitFor();
    expect(opened.pageErrors).toEqual([]);
    await other.context().close();
  },
  PATIENCE,
);
