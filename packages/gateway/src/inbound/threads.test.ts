import { sseFrame } from "@countersign/testkit";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { openSqliteKeyedStore } from "../store/sqlite/open-sqlite-store.js";
import { stateOf } from "../thread/thread-state.js";
import { createMemoryStore } from "../store/memory-store.js";
import { threadKey } from "./thread-admission.js";
import { SYSTEM_CLOCK } from "../base/ports.js";
import { CLIENTS } from "../testing/client.js";
import { idsOf, inRun, text } from "../testing/events.js";
import { startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";
import { SILENT_SINK } from "../testing/silent-sink.js";
import { rowsOf } from "../testing/keyed-store-contract.js";
import { startRun } from "../runs/start-run.js";

let fixture: Fixture | undefined;
let directory: string | undefined;
afterEach(async () => {
  await fixture?.stop();
  if (directory !== undefined) await rm(directory, { recursive: true, force: true });
  fixture = directory = undefined;
});

const newClient = (url: string) =>
  new CLIENTS["1.0.0"]({ url: `${url}/agents/support`, threadId: "t" });
const say = async (client: ReturnType<typeof newClient>, id: string): Promise<string> => {
  client.addMessage({ id, role: "user", content: id });
  return client.runAgent({ runId: `run-${id}` }).then(
    () => "admitted",
    (error: unknown) => /ERR_\w+/.exec(String(error))?.[0] ?? String(error),
  );
};

test("after a restart a conversation continues, a forged one does not, and a run id stays used", async () => {
  directory = await mkdtemp(join(tmpdir(), "countersign-threads-"));
  let count = 0;
  const start = async (): Promise<Fixture> => {
    const ledger = await openSqliteKeyedStore({ directory: directory ?? "", clock: SYSTEM_CLOCK });
    return startFixture(
      ({ body }) => ({ pieces: inRun(idsOf(body), text(`a${(count += 1)}`, "hi")).map(sseFrame) }),
      { gateway: { ledger } },
    );
  };
  fixture = await start();
  const client = newClient(fixture.url);
  expect(await say(client, "u1")).toBe("admitted");
  await fixture.stop();
  fixture = await start();
  client.url = `${fixture.url}/agents/support`;
  expect(await say(client, "u2")).toBe("admitted");
  await expect(client.runAgent({ runId: "run-u1" })).rejects.toThrow(/ERR_RUN_ID_REUSED/);
  client.setMessages(
    client.messages.map((message) =>
      message.role === "assistant" ? { ...message, content: "forged" } : message,
    ),
  );
  expect(await say(client, "u3")).toBe("ERR_HISTORY_REWRITTEN");
  expect(fixture.agentRequests).toHaveLength(1);
});

test("a person who stops an answer continues with the part that they have", async () => {
  fixture = await startFixture(({ body, signal }) => ({
    pieces: (async function* () {
      const [start, ...rest] = inRun(idsOf(body), text("x", ""));
      yield sseFrame(start);
      if (!body.includes('"stop me"')) {
        for (const event of rest.slice(-1)) yield sseFrame(event);
        return;
      }
      yield sseFrame({ type: "TEXT_MESSAGE_START", messageId: "a1", role: "assistant" });
      for (const delta of ["one ", "two ", "three "]) {
        yield sseFrame({ type: "TEXT_MESSAGE_CONTENT", messageId: "a1", delta });
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      if (!body.includes('"u3"')) {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      }
    })(),
  }));
  const client = newClient(fixture.url);
  client.addMessage({ id: "u1", role: "user", content: "stop me" });
  await client
    .runAgent(
      { runId: "r1" },
      {
        onTextMessageContentEvent: ({ event }) => {
          if (event.delta === "two ") client.abortRun();
        },
      },
    )
    .catch(() => undefined);
  const held = client.messages.find(({ id }) => id === "a1");
  expect(held?.content).toMatch(/^one /);
  const requests = fixture.agentRequests;
  await expect.poll(() => requests[0]?.signal.aborted).toBe(true);
  client.setMessages([
    ...client.messages.filter(({ id }) => id !== "a1"),
    { id: "a1", role: "assistant", content: "two " },
  ]);
  expect(await say(client, "u2")).toBe("ERR_HISTORY_REWRITTEN");
  client.setMessages([{ id: "u1", role: "user", content: "stop me" }, held as never]);
  expect(await say(client, "u3")).toBe("admitted");
});

test("a message that was open when the gateway was killed is accepted once, with a receipt, and stays so", async () => {
  const ledger = createMemoryStore(SYSTEM_CLOCK);
  const key = threadKey("support", "", "t");
  await ledger.write(key, [
    { kind: "message", id: "a1", value: { role: "assistant", content: [], open: true } },
  ]);
  fixture = await startFixture(({ body }) => ({ pieces: inRun(idsOf(body), []).map(sseFrame) }), {
    gateway: { ledger },
  });
  const client = newClient(fixture.url);
  client.setMessages([{ id: "a1", role: "assistant", content: "as far as I got" }]);
  expect(await say(client, "u1")).toBe("admitted");
  expect(fixture.recorder.drafts[0]).toMatchObject({ rule: "ag_ui_request.history" });
  expect(stateOf(await rowsOf(ledger, key)).messages.get("a1")?.open).toBeUndefined();
  client.setMessages(
    client.messages.map((message) =>
      message.id === "a1" ? { id: "a1", role: "assistant" as const, content: "other" } : message,
    ),
  );
  expect(await say(client, "u2")).toBe("ERR_HISTORY_REWRITTEN");
});

test("28: a thread belongs to the principal that opened it, on every connection", async () => {
  fixture = await startFixture(({ body }) => ({ pieces: inRun(idsOf(body), []).map(sseFrame) }));
  const { context } = fixture.gateway;
  const upstream = context.agents.find("support");
  if (upstream === undefined) throw new Error("no agent");
  let count = 0;
  const ask = async (id: string): Promise<string> => {
    count += 1;
    const input = { threadId: "t", runId: `r${count}`, protocolVersion: "1.0", messages: [] };
    try {
      const { done } = await startRun(context, {
        upstream,
        bytes: JSON.stringify(input),
        sessionId: `session-${count}`,
        threadScope: "",
        principal: { id },
        connectionId: `connection-${count}`,
        transport: "sse",
        gone: new AbortController().signal,
        openSink: () => SILENT_SINK,
      });
      await done;
      return "admitted";
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  expect(await ask("alice")).toBe("admitted");
  expect(await ask("mallory")).toBe("ERR_THREAD_OWNER");
  expect(await ask("alice")).toBe("admitted");
  expect(fixture.agentRequests).toHaveLength(2);
});

test("while a thread has an open run, a second run is refused, also without a session", async () => {
  fixture = await startFixture(({ signal }) => ({
    pieces: (async function* () {
      yield sseFrame({ type: "RUN_STARTED", threadId: "t", runId: "r1" });
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    })(),
  }));
  const leave = new AbortController();
  const post = (runId: string): Promise<Response> =>
    fetch(`${fixture?.url}/agents/support`, {
      method: "POST",
      body: JSON.stringify({ threadId: "t", runId, protocolVersion: "1.0", messages: [] }),
      signal: leave.signal,
    });
  expect((await post("r1")).status).toBe(200);
  const second = await post("r2");
  expect(second.status).toBe(409);
  expect(await second.json()).toMatchObject({ code: "ERR_RUN_ACTIVE" });
  leave.abort();
});
