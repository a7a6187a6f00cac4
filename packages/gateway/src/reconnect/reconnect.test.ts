import { sseFrame } from "@countersign/testkit";
import type { FakePiece, FakeScript } from "@countersign/testkit";
import * as fc from "fast-check";
import { request } from "node:http";
import { afterEach, expect, test } from "vitest";
import { createAccess } from "../access/access.js";
import type { HttpSink } from "../clients/http-sink.js";
import { DEFAULT_LISTEN_LIMITS } from "../listen/limits.js";
import type { ListenLimits } from "../listen/limits.js";
import { LightSignal } from "../signal.js";
import { idsOf } from "../testing/events.js";
import { startFixture } from "../testing/fixture.js";
import type { Fixture, FixtureOptions } from "../testing/fixture.js";
import { startIdentity } from "../testing/identity.js";
import type { Identity } from "../testing/identity.js";
import { readStream } from "../testing/stream-reader.js";
import type { ReadFrame, ReadOptions, StreamReader } from "../testing/stream-reader.js";
import type { LastingStream } from "./lasting-stream.js";
import { LastingStreams } from "./lasting-streams.js";

let fixture: Fixture | undefined;
let identity: Identity | undefined;
afterEach(async () => {
  await fixture?.stop();
  await identity?.stop();
  fixture = undefined;
  identity = undefined;
});

/** An agent that says so many words of its message, each when it is told to. */
function createTalker(words: number, size = 1) {
  const hungUp: string[] = [];
  let gates = 0;
  let open = (): void => {};
  const script: FakeScript = (request) => ({
    pieces: (async function* (): AsyncGenerator<FakePiece> {
      const ids = idsOf(request.body);
      request.signal.addEventListener("abort", () => void hungUp.push(ids.runId), { once: true });
      yield sseFrame({ type: "RUN_STARTED", ...ids });
      yield sseFrame({ type: "TEXT_MESSAGE_START", messageId: "m1", role: "assistant" });
      for (let word = 0; word < words; word += 1) {
        while (gates <= word && !request.signal.aborted) {
          await new Promise<void>((resolve) => {
            open = resolve;
            request.signal.addEventListener("abort", () => resolve(), { once: true });
          });
        }
        const delta = `${word} `.padEnd(size, "x");
        yield sseFrame({ type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta });
      }
      yield sseFrame({ type: "TEXT_MESSAGE_END", messageId: "m1" });
      yield sseFrame({ type: "RUN_FINISHED", ...ids });
    })(),
  });
  return {
    script,
    hungUp,
    /** Lets it say this many words in all. */
    upTo(count: number): void {
      gates = count;
      open();
    },
  };
}

const SINK = { isSlow: false, write: () => {} } as unknown as HttpSink;

type Talker = ReturnType<typeof createTalker>;

async function start(
  talker: Talker,
  listenLimits: Partial<ListenLimits> = {},
  gateway: FixtureOptions["gateway"] = {},
): Promise<Fixture> {
  fixture = await startFixture(talker.script, { gateway: { listenLimits, ...gateway } });
  return fixture;
}

const INPUT = {
  threadId: "t1",
  runId: "r1",
  protocolVersion: "1.0",
  messages: [{ id: "u1", role: "user", content: "hello" }],
};

function ask(around: Fixture, options: ReadOptions = {}): Promise<StreamReader> {
  return readStream(`${around.url}/agents/support?reconnect=1`, { body: INPUT, ...options });
}

function comeBack(
  around: Fixture,
  last: ReadFrame | undefined,
  { headers, ...options }: ReadOptions = {},
): Promise<StreamReader> {
  return ask(around, { ...options, headers: { ...headers, "last-event-id": last?.id ?? "" } });
}

/** Waits until the gateway knows that a client has lost its connection. */
function noticed({ gateway }: Fixture): Promise<void> {
  const { openRuns } = gateway.surroundings.telemetry;
  return expect.poll(() => [...openRuns].every(({ sink }) => sink.isAway)).toBe(true);
}

const typesOf = (frames: readonly ReadFrame[]): string[] =>
  frames.map(({ data }) => (JSON.parse(data) as { type: string }).type);

const textOf = (frames: readonly ReadFrame[]): string =>
  frames.map(({ data }) => (JSON.parse(data) as { delta?: string }).delta ?? "").join("");

test("however often and wherever a connection is torn, its client gets each event once, in order, each signed for once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 8 }), async (cuts) => {
      const talker = createTalker(20);
      const around = await start(talker);
      talker.upTo(20);
      const got: ReadFrame[] = [];
      let reader = await ask(around, { dropAfter: cuts[0] ?? 99 });
      for (const dropAfter of [...cuts.slice(1), 99]) {
        await reader.closed;
        got.push(...reader.frames);
        if (typesOf(got).includes("RUN_FINISHED")) break;
        reader = await comeBack(around, got.at(-1), { dropAfter });
        expect(reader.status).toBe(200);
      }
      await reader.closed;
      if (!typesOf(got).includes("RUN_FINISHED")) got.push(...reader.frames);
      expect(typesOf(got)).toEqual([
        "RUN_STARTED",
        "TEXT_MESSAGE_START",
        ...Array.from({ length: 20 }, () => "TEXT_MESSAGE_CONTENT"),
        "TEXT_MESSAGE_END",
        "RUN_FINISHED",
      ]);
      expect(textOf(got)).toBe(Array.from({ length: 20 }, (_, word) => `${word} `).join(""));
      expect(around.agentRequests).toHaveLength(1);
      // The request, and each of the 24 events.
      expect(around.recorder.drafts).toHaveLength(25);
      await around.stop();
    }),
    { numRuns: 20 },
  );
});

test("a line that tears before the first event loses none", async () => {
  const talker = createTalker(1);
  const around = await start(talker);
  let place = "";
  const asked = request(`${around.url}/agents/support?reconnect=1`, { method: "POST" });
  asked.on("error", () => undefined);
  asked.end(JSON.stringify(INPUT));
  await new Promise<void>((resolve) => {
    asked.on("response", (answer) => {
      answer.on("error", () => undefined);
      answer.once("data", (bytes: Buffer) => {
        place = /^id: (\S+)\n\n/u.exec(String(bytes))?.[1] ?? "";
        asked.destroy();
        resolve();
      });
    });
  });
  expect(place).toMatch(/\.0$/u);
  talker.upTo(1);
  const reader = await comeBack(around, { id: place, data: "" });
  await reader.closed;
  expect(typesOf(reader.frames)[0]).toBe("RUN_STARTED");
  expect(typesOf(reader.frames).at(-1)).toBe("RUN_FINISHED");
});

test("what was said while its client was away, the end included, waits for it; then the stream is over", async () => {
  const talker = createTalker(3);
  const around = await start(talker);
  talker.upTo(1);
  const first = await ask(around, { dropAfter: 3 });
  await first.closed;
  await noticed(around);
  talker.upTo(3);
  await expect.poll(() => around.gateway.surroundings.sessions.openRuns().length).toBe(0);
  const second = await comeBack(around, first.frames.at(-1));
  await second.closed;
  expect(textOf(second.frames)).toBe("1 2 ");
  expect(typesOf(second.frames).at(-1)).toBe("RUN_FINISHED");
});

test("a client that does not come back in time ends its run at the agent, and finds nothing any more", async () => {
  const talker = createTalker(3);
  const around = await start(talker, { reconnectGraceMs: 100 });
  talker.upTo(1);
  const first = await ask(around, { dropAfter: 3 });
  await first.closed;
  await expect.poll(() => talker.hungUp).toEqual(["r1"]);
  expect((await comeBack(around, first.frames.at(-1))).status).toBe(410);
  expect(around.agentRequests).toHaveLength(1);
});

test("who does not ask for it is let go with the connection, and gets no numbers", async () => {
  const talker = createTalker(3);
  const around = await start(talker);
  talker.upTo(1);
  const reader = await readStream(`${around.url}/agents/support`, { body: INPUT, dropAfter: 3 });
  await reader.closed;
  expect(reader.frames.map(({ id }) => id)).toEqual([undefined, undefined, undefined]);
  await expect.poll(() => talker.hungUp).toEqual(["r1"]);
});

test("with a grace of 0 nobody can come back", async () => {
  const talker = createTalker(3);
  const around = await start(talker, { reconnectGraceMs: 0 });
  talker.upTo(1);
  const reader = await ask(around, { dropAfter: 3 });
  await reader.closed;
  expect(reader.frames[0]?.id).toBeUndefined();
  await expect.poll(() => talker.hungUp).toEqual(["r1"]);
});

test("a number that was never given starts no run and is answered like one that is gone", async () => {
  const talker = createTalker(3);
  const around = await start(talker);
  talker.upTo(1);
  const first = await ask(around, { dropAfter: 2 });
  await first.closed;
  const key = first.frames[0]?.id?.split(".")[0];
  for (const id of ["", "x", `${key}.99`, `${key}.-1`, `${key}.1e1`, `${"A".repeat(22)}.1`]) {
    const tried = await comeBack(around, { id, data: "" });
    expect(tried.status, id).toBe(410);
  }
  expect(around.agentRequests).toHaveLength(1);
});

test("whoever came last has the stream: a connection that nobody noticed is dead is hung up on", async () => {
  const talker = createTalker(3);
  const around = await start(talker);
  talker.upTo(1);
  const first = await ask(around);
  await expect.poll(() => first.frames.length).toBe(3);
  const second = await comeBack(around, first.frames[1]);
  await first.closed;
  expect(talker.hungUp).toEqual([]);
  talker.upTo(3);
  await second.closed;
  expect(textOf(second.frames)).toBe("0 1 2 ");
  expect(first.frames).toHaveLength(3);
});

test("what is no longer kept cannot be gone on from", async () => {
  const talker = createTalker(400, 50);
  const around = await start(talker, { reconnectBytes: 8192 });
  talker.upTo(399);
  const first = await ask(around);
  await expect.poll(() => first.frames.length).toBe(401);
  first.tear();
  expect((await comeBack(around, first.frames[0])).status).toBe(410);
  const second = await comeBack(around, first.frames[399]);
  talker.upTo(400);
  await second.closed;
  expect(typesOf(second.frames).at(-1)).toBe("RUN_FINISHED");
});

test("an agent whose client is away waits once as much is kept as may be, and goes on when it is back", async () => {
  const talker = createTalker(800, 2000);
  const around = await start(talker, { reconnectBytes: 65_536 });
  const first = await ask(around, { dropAfter: 2 });
  await first.closed;
  await noticed(around);
  talker.upTo(800);
  const forwarded = (): number =>
    [...around.gateway.surroundings.sessions.openRuns()][0]?.counters.forwarded ?? 0;
  await expect.poll(forwarded).toBeGreaterThan(30);
  // Once it waits, it waits.
  let before = -1;
  await expect.poll(() => before === (before = forwarded()), { interval: 200 }).toBe(true);
  expect(before).toBeLessThan(800);
  const second = await comeBack(around, first.frames.at(-1));
  await second.closed;
  expect(typesOf(second.frames).at(-1)).toBe("RUN_FINISHED");
  expect(second.frames).toHaveLength(802);
});

test("when all streams together keep as much as they may, those that begin end with their connection", async () => {
  const talker = createTalker(200, 100);
  const around = await start(talker, { reconnectTotalBytes: 4096 });
  talker.upTo(199);
  const first = await ask(around);
  await expect.poll(() => first.frames.length).toBe(201);
  first.tear();
  await first.closed;
  // What it has all of it can still be gone on with, from nowhere else.
  expect((await comeBack(around, first.frames[100])).status).toBe(410);
  const second = await comeBack(around, first.frames.at(-1));
  talker.upTo(200);
  await second.closed;
  expect(typesOf(second.frames)).toEqual([
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_END",
    "RUN_FINISHED",
  ]);
});

test("so many streams may wait at once; the one that is too many ends with its connection", () => {
  const streams = new LastingStreams(DEFAULT_LISTEN_LIMITS);
  const gone: boolean[] = [];
  const answers = Array.from({ length: 1001 }, () => {
    const connection = new LightSignal();
    const holder = { principal: "p", agent: "a", sessionId: "s" };
    const stream = streams.create(holder, connection) as LastingStream;
    stream.open(SINK, connection);
    return { connection, stream };
  });
  for (const { connection, stream } of answers) {
    connection.abort();
    gone.push(stream.gone.aborted);
  }
  expect(gone.filter(Boolean)).toHaveLength(1);
  expect(gone.at(-1)).toBe(true);
  // One comes back, and another may wait.
  const back = new LightSignal();
  answers[0]?.stream.takeUp(0, SINK, back);
  back.abort();
  expect(answers[0]?.stream.gone.aborted).toBe(false);
});

test("a stream is its principal's alone, whoever knows its numbers", async () => {
  identity = await startIdentity();
  const talker = createTalker(3);
  const around = await start(talker, {}, { access: createAccess([identity.authenticator()]) });
  const bearer = async (name: string): Promise<{ authorization: string }> => ({
    authorization: `Bearer ${await (identity as Identity).token(name)}`,
  });
  talker.upTo(1);
  const first = await ask(around, { dropAfter: 3, headers: await bearer("alice") });
  await first.closed;
  const last = first.frames.at(-1);
  expect((await comeBack(around, last, { headers: await bearer("bob") })).status).toBe(410);
  expect((await comeBack(around, last)).status).toBe(401);
  const second = await comeBack(around, last, { headers: await bearer("alice") });
  talker.upTo(3);
  await second.closed;
  expect(textOf(second.frames)).toBe("1 2 ");
});

test("a thread goes on after a run whose end its client never came back for", async () => {
  const talker = createTalker(2);
  const around = await start(talker, { reconnectGraceMs: 50 });
  talker.upTo(1);
  const first = await ask(around, { dropAfter: 3 });
  await first.closed;
  await noticed(around);
  talker.upTo(2);
  await expect.poll(() => around.gateway.surroundings.sessions.openRuns().length).toBe(0);
  const messages = [
    ...INPUT.messages,
    { id: "m1", role: "assistant", content: "0 " },
    { id: "u2", role: "user", content: "again" },
  ];
  const next = await ask(around, { body: { ...INPUT, runId: "r2", messages } });
  expect(next.status).toBe(200);
  await next.closed;
  expect(typesOf(next.frames).at(-1)).toBe("RUN_FINISHED");
});

test("an EventSource goes on by itself, and is sent away when its run is over", async () => {
  const talker = createTalker(3);
  const around = await start(talker);
  talker.upTo(1);
  const url = `${around.url}/ag-ui/stream?session=s1&reconnect=1`;
  const first = await readStream(url, { method: "GET", dropAfter: 3 });
  await first.closed;
  talker.upTo(3);
  const back = (last: ReadFrame | undefined): Promise<StreamReader> =>
    readStream(url, { method: "GET", headers: { "last-event-id": last?.id ?? "" } });
  const second = await back(first.frames.at(-1));
  await second.closed;
  expect(textOf(second.frames)).toBe("1 2 ");
  expect((await back(second.frames.at(-1))).status).toBe(204);
  expect(around.agentRequests).toHaveLength(1);
});
