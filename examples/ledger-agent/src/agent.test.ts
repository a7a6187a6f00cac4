import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HttpAgent } from "@ag-ui/client";
import { parseJson } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import { verifyAgUiFrameSafety } from "@countersign/projection/safety";
import type { AgUiEvent } from "@countersign/wire";
import { createRunAutomaton } from "@countersign/wire/order";
import { createSseDecoder } from "@countersign/wire/sse";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LedgerAgent } from "./agent.js";
import { Ledger } from "./ledger.js";
import { serve } from "./server.js";
import type { RunningServer } from "./server.js";

let folder: string;
let ledger: Ledger;
let server: RunningServer;
const diagnostics: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "ledger-agent-"));
  ledger = await Ledger.open(join(folder, "ledger.sqlite"));
  const agent = new LedgerAgent(ledger, ({ code }) => diagnostics.push(code));
  server = await serve(agent, 0);
});

afterAll(async () => {
  await server.stop();
  ledger.close();
  await rm(folder, { recursive: true });
});

/** The real client, with every event it delivers. */
function client(threadId: string) {
  const events: AgUiEvent[] = [];
  const agent = new HttpAgent({ url: server.url, threadId });
  let runs = 0;
  return {
    agent,
    events,
    async ask(text: string | undefined, resume?: object[]): Promise<void> {
      if (text !== undefined) {
        agent.addMessage({ id: `${threadId}-${events.length}`, role: "user", content: text });
      }
      runs += 1;
      const input = { runId: `${threadId}-run-${runs}`, ...(resume && { resume }) };
      await agent.runAgent(input as never, {
        onEvent: ({ event }) => {
          events.push(event as unknown as AgUiEvent);
        },
      });
    },
  };
}

async function read(path: string, headers: Record<string, string> = {}) {
  const response = await fetch(new URL(path, server.url), { headers });
  const decoder = createSseDecoder();
  const messages =
    response.body === null ? [] : decoder.push(new Uint8Array(await response.arrayBuffer()));
  return {
    status: response.status,
    ids: messages.flatMap(({ id }) => (id === undefined ? [] : [Number(id)])),
    events: messages.map(({ data }) => parseJson(data) as unknown as AgUiEvent),
  };
}

function post(body: string): Promise<Response> {
  return fetch(server.url, { method: "POST", body });
}

test("the real client reads a run: text, a call with revealed arguments, its result, success", async () => {
  const { agent, events, ask } = client("count");
  await ask("How many apples are there?");
  expect(events.at(0)).toMatchObject({
    type: "RUN_STARTED",
    threadId: "count",
    runId: "count-run-1",
  });
  expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "success" } });
  const messages = agent.messages as unknown as JsonObject[];
  expect(messages).toMatchObject([
    { role: "user" },
    {
      role: "assistant",
      content: "Let me count.",
      toolCalls: [{ function: { name: "count_stock", arguments: '{"item":"apples"}' } }],
    },
    { role: "tool", content: '{"left":12}' },
    { role: "assistant", content: "There are 12 apples left." },
  ]);
});

test("facts of the application appear as a card and an event, without what its owner keeps", async () => {
  const { agent, events, ask } = client("sell");
  await ask("sell 3 pears");
  expect(agent.messages.find(({ role }) => role === "activity")).toMatchObject({
    activityType: "stock",
    content: { item: "pears", left: 9 },
  });
  const spec = { forbiddenLiterals: ["Orchard", "5512", "shelf-1"] };
  expect(verifyAgUiFrameSafety(events, spec)).toEqual([]);
  expect(
    ledger
      .read("sell")
      .map(({ payload }) => JSON.stringify(payload))
      .join(),
  ).toContain("Orchard");
});

test("what must be approved waits for the person, and the answer goes on in a new run", async () => {
  const { agent, events, ask } = client("discard");
  await ask("discard plums");
  expect(agent.pendingInterrupts).toMatchObject([
    {
      reason: "tool_call",
      responseSchema: { properties: { approved: { type: "boolean" } } },
    },
  ]);
  const [open] = agent.pendingInterrupts;
  await ask(undefined, [
    { interruptId: open?.id, status: "resolved", payload: { approved: true } },
  ]);
  expect(agent.pendingInterrupts).toEqual([]);
  expect(events.filter(({ type }) => type === "TOOL_CALL_START")).toHaveLength(1);
  expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED", runId: "discard-run-2" });
  expect(agent.messages.at(-1)).toMatchObject({ content: "There are 0 plums left." });
});

test("a person can decline, and a new question without an answer is refused", async () => {
  const { agent, ask } = client("decline");
  await ask("discard plums");
  const body = {
    threadId: "decline",
    runId: "x",
    messages: [{ id: "1", role: "user", content: "hi" }],
  };
  const refused = await post(JSON.stringify(body));
  expect(refused.status).toBe(422);
  expect(await refused.json()).toMatchObject({ issues: [{ code: "resume-not-covered" }] });
  const [open] = agent.pendingInterrupts;
  await ask(undefined, [
    { interruptId: open?.id, status: "resolved", payload: { approved: false } },
  ]);
  expect(agent.messages.at(-1)).toMatchObject({
    role: "tool",
    content: expect.stringContaining("declined"),
  });
});

test("a reader can come back at any cursor and ends with the same conversation", async () => {
  const { agent, ask } = client("again");
  await ask("how many figs?");
  const { events, ids } = await read("/threads/again/stream");
  expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED", runId: "again-run-1" });
  // The first id is that of the event before the question was recorded.
  for (const cursor of ids.slice(1, -1)) {
    const resumed = await read(`/threads/again/stream?after=${cursor}`);
    const automaton = createRunAutomaton({ strict: true });
    expect(resumed.events.flatMap((event) => [...automaton.push(event)])).toEqual([]);
    expect(resumed.events.map(({ type }) => type).slice(0, 2)).toEqual([
      "RUN_STARTED",
      "MESSAGES_SNAPSHOT",
    ]);
    const body = resumed.events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    const reader = new HttpAgent({
      url: server.url,
      threadId: "again",
      fetch: () =>
        Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } })),
    } as ConstructorParameters<typeof HttpAgent>[0]);
    await reader.runAgent();
    expect(reader.messages).toEqual(agent.messages);
  }
});

test("a reader that has seen everything is told that there is no more", async () => {
  const { ask } = client("over");
  await ask("hello");
  const last = String(ledger.read("over").at(-1)?.id);
  expect(await read("/threads/over/stream", { "last-event-id": last })).toMatchObject({
    status: 204,
  });
});

test("an invalid input is refused before a stream, with the reason", async () => {
  expect((await post("{")).status).toBe(400);
  const empty = await post('{"threadId":"e","runId":"r","messages":[]}');
  expect(empty.status).toBe(422);
  expect(await empty.json()).toMatchObject({ issues: [{ code: "intent-missing" }] });
  expect((await post(" ".repeat(1024 * 1024 + 1))).status).toBe(413);
  expect(ledger.read("e")).toEqual([]);
});

test("a second run on a thread is refused while the first is going", async () => {
  const opened = { kind: "agent.run.started", factOwnerRef: "@agent-os/runtime", payload: {} };
  const runId = ledger.append("busy", opened);
  const body = {
    threadId: "busy",
    runId: "b",
    messages: [{ id: "1", role: "user", content: "hi" }],
  };
  expect((await post(JSON.stringify(body))).status).toBe(409);
  const end = { runId, tokensUsed: 0 };
  ledger.append("busy", { ...opened, kind: "agent.aborted.cancelled", payload: end });
  const accepted = await post(JSON.stringify(body));
  expect(accepted.status).toBe(200);
  expect(await accepted.text()).toContain("RUN_FINISHED");
});

test("a run that a crash left open is closed as failed when the agent starts again", async () => {
  const runId = ledger.append("crash", {
    kind: "agent.run.started",
    factOwnerRef: "@agent-os/runtime",
    payload: { intent: "x", clientRunId: "crashed" },
  });
  expect(runId).toBeGreaterThan(0);
  const again = new LedgerAgent(ledger);
  expect(again.capabilities()).toMatchObject({ tools: { items: [{}, {}, {}] } });
  const { events } = await read("/threads/crash/stream");
  expect(events.map(({ type }) => type)).toEqual(["RUN_STARTED", "RUN_ERROR"]);
});

test("the ledger cannot be changed, only continued", async () => {
  const { openDatabase } = await import("./sqlite.js");
  const database = await openDatabase(join(folder, "ledger.sqlite"));
  expect(() => database.exec("UPDATE events SET kind = 'x'")).toThrow(/append-only/);
  expect(() => database.exec("DELETE FROM events")).toThrow(/append-only/);
  database.close();
});

test("nothing was dropped on the way", () => {
  expect(diagnostics).toEqual([]);
});
