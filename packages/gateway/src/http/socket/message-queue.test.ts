import { expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { startEnvelopeAgent } from "../../testing/envelopes.js";
import { createMemoryRecorder, OPEN_POLICY, startFixture } from "../../testing/fixture.js";
import { createMessageQueue } from "./message-queue.js";

/** A port whose messages the test handles one by one. */
function createPort() {
  const handled: string[] = [];
  const turns: string[] = [];
  let next = (): void => {};
  return {
    handled,
    turns,
    /** Completes this many messages. */
    advance: async (count: number): Promise<void> => {
      for (let index = 0; index < count; index += 1) {
        next();
        await new Promise(setImmediate);
      }
    },
    handle: (text: string): Promise<void> => {
      handled.push(text);
      return new Promise((resolve) => {
        next = resolve;
      });
    },
    pause: () => void turns.push(`pause after ${handled.length}`),
    resume: () => void turns.push(`resume after ${handled.length}`),
  };
}

test("the sender has to wait when 64 messages are queued, and may continue when fewer than half are left", async () => {
  const port = createPort();
  const enqueue = createMessageQueue(port, new AbortController().signal);
  // The first is being handled, the others wait.
  for (let index = 0; index < 64; index += 1) enqueue(`${index}`);
  expect(port.turns).toEqual([]);
  enqueue("64");
  enqueue("65");
  expect(port.turns).toEqual(["pause after 1"]);
  await port.advance(70);
  expect(port.turns).toEqual(["pause after 1", "resume after 35"]);
  expect(port.handled).toEqual(Array.from({ length: 66 }, (_, index) => `${index}`));
  enqueue("again");
  expect(port.handled.at(-1)).toBe("again");
});

test("the sender has to wait as soon as the queued text is long, however few messages it is", async () => {
  const port = createPort();
  const enqueue = createMessageQueue(port, new AbortController().signal);
  const half = "x".repeat(512 * 1024);
  enqueue("being handled");
  enqueue(half);
  enqueue(half.slice(1));
  expect(port.turns).toEqual([]);
  enqueue("y");
  expect(port.turns).toEqual(["pause after 1"]);
  await port.advance(2);
  expect(port.turns).toEqual(["pause after 1"]);
  await port.advance(2);
  expect(port.turns).toEqual(["pause after 1", "resume after 3"]);
  expect(port.handled).toHaveLength(4);
});

test("messages of a disconnected client are not handled", async () => {
  const port = createPort();
  const leaving = new AbortController();
  const enqueue = createMessageQueue(port, leaving.signal);
  for (const text of ["a", "b", "c"]) enqueue(text);
  leaving.abort();
  enqueue("d");
  await port.advance(3);
  expect(port.handled).toEqual(["a"]);
});

test("messages queued when their socket closes are neither signed nor sent, and the one being signed is recorded as not sent", async () => {
  const agent = await startEnvelopeAgent(() => {});
  const memory = createMemoryRecorder();
  let release: (() => void) | undefined;
  let isHeld = false;
  const asked: unknown[] = [];
  const fixture = await startFixture(() => ({ pieces: [] }), {
    policy: OPEN_POLICY,
    target: { transport: "websocket", dialect: "chio", url: agent.url },
    gateway: {
      recorder: {
        appendAll: async (drafts) => {
          asked.push(...drafts);
          if (isHeld) await new Promise<void>((resolve) => (release = resolve));
          return memory.appendAll(drafts);
        },
      },
    },
  });
  const socket = new WebSocket(`${fixture.webSocketUrl}/ag-ui?session=s`);
  await new Promise((resolve) => socket.once("open", resolve));
  await vi.waitFor(() => expect(agent.paths).toHaveLength(1));
  isHeld = true;
  const text = JSON.stringify({ event_type: "text_stream", payload: { text: "hi" } });
  for (let index = 0; index < 10; index += 1) socket.send(text);
  await vi.waitFor(() => expect(asked).toHaveLength(2));
  socket.terminate();
  const connections = (): Promise<number> =>
    new Promise((resolve) => fixture.gateway.dataPlane.getConnections((_, open) => resolve(open)));
  await vi.waitFor(async () => expect(await connections()).toBe(0));
  isHeld = false;
  release?.();
  await new Promise((resolve) => setTimeout(resolve, 20));
  await fixture.stop();
  await agent.stop();
  expect(agent.received).toEqual([]);
  const [, first, second] = memory.drafts;
  expect(memory.drafts).toHaveLength(3);
  expect(first?.receipt.allowed).toBe(true);
  expect(second).toMatchObject({ rule: "gateway/no-run", receipt: { allowed: false } });
  expect(second?.receipt.denial_reason).toContain(`agui-${first?.receipt.event_id}`);
  expect(second?.receipt.event_id).not.toBe(first?.receipt.event_id);
  expect(second?.receipt.payload_hash).toBe(first?.receipt.payload_hash);
});
