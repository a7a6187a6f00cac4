import { HttpAgent } from "@ag-ui/client";
import { sseFrame } from "@countersign/testkit";
import { afterEach, expect, test } from "vitest";
import type { Fixture, FixtureOptions } from "../testing/fixture.js";
import { startFixture } from "../testing/fixture.js";

let fixture: Fixture | undefined;
afterEach(async () => {
  await fixture?.stop();
  fixture = undefined;
});

type Event = Record<string, unknown>;

async function throughGateway(
  events: (ids: { threadId: string; runId: string }) => Event[],
  options: FixtureOptions = {},
) {
  fixture = await startFixture((request) => {
    const { threadId, runId } = JSON.parse(request.body) as { threadId: string; runId: string };
    return { pieces: events({ threadId, runId }).map(sseFrame) };
  }, options);
  const agent = new HttpAgent({ url: `${fixture.url}/agents/support`, threadId: "thread-1" });
  agent.addMessage({ id: "u1", role: "user", content: "hello" });
  const seen: Event[] = [];
  await agent.runAgent(
    { runId: "run-1" },
    { onEvent: ({ event }) => void seen.push(event as Event) },
  );
  return { agent, seen, drafts: fixture.recorder.drafts };
}

const text = (messageId: string, delta: string): Event[] => [
  { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
  { type: "TEXT_MESSAGE_CONTENT", messageId, delta },
  { type: "TEXT_MESSAGE_END", messageId },
];

test("a plain answer reaches the official client, and every event has a receipt", async () => {
  const { agent, seen, drafts } = await throughGateway((ids) => [
    { type: "RUN_STARTED", ...ids },
    ...text("m1", "hi there"),
    { type: "RUN_FINISHED", ...ids },
  ]);
  expect(agent.messages.at(-1)).toMatchObject({ id: "m1", role: "assistant", content: "hi there" });
  expect(seen.map(({ type }) => type)).toEqual([
    "RUN_STARTED",
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_END",
    "RUN_FINISHED",
  ]);
  const outbound = drafts.filter((draft) => draft.direction === "outbound");
  expect(outbound.map((draft) => draft.receipt.allowed)).toEqual([true, true, true, true, true]);
  expect(drafts[0]).toMatchObject({ direction: "inbound", run_id: "run-1", thread_id: "thread-1" });
});

test("a restricted event without a capability is withheld to its end, and the client accepts the stream", async () => {
  const { agent, seen, drafts } = await throughGateway((ids) => [
    { type: "RUN_STARTED", ...ids },
    { type: "CUSTOM", name: "vendor.navigate", value: { url: "https://evil.example" } },
    { type: "ACTIVITY_SNAPSHOT", messageId: "a1", activityType: "form", content: {} },
    { type: "ACTIVITY_DELTA", messageId: "a1", activityType: "form", patch: [] },
    ...text("m1", "fine"),
    { type: "RUN_FINISHED", ...ids },
  ]);
  expect(agent.messages.at(-1)).toMatchObject({ content: "fine" });
  expect(seen.some(({ type }) => type === "CUSTOM" || type === "ACTIVITY_SNAPSHOT")).toBe(false);
  const blocked = drafts.filter((draft) => !draft.receipt.allowed);
  expect(blocked.map((draft) => draft.receipt.classification)).toEqual([
    "mutate",
    "create",
    "mutate",
  ]);
  expect(blocked[1]?.receipt.denial_reason).toBe("capability required for Create events");
});

test("a stream that ends before its run ends in RUN_ERROR, never in a finished run", async () => {
  const { seen } = await throughGateway((ids) => [
    { type: "RUN_STARTED", ...ids },
    ...text("m1", "half").slice(0, 2),
  ]);
  expect(seen.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "AGENT_STREAM_TRUNCATED" });
  expect(seen.some(({ type }) => type === "RUN_FINISHED")).toBe(false);
});
