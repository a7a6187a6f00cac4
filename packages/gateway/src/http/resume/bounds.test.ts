import { afterEach, expect, test, vi } from "vitest";
import { LightSignal } from "@countersign/core";
import { DEFAULT_LISTEN_LIMITS } from "../../base/limits.js";
import type { ListenLimits } from "../../base/limits.js";
import { startFixture } from "../../testing/fixture.js";
import type { Fixture } from "../../testing/fixture.js";
import { readStream } from "../../testing/stream-reader.js";
import { ask, comeBack, createTalker, INPUT, noticed, typesOf } from "../../testing/talker.js";
import type { Talker } from "../../testing/talker.js";
import type { ResumableStream } from "./resumable-stream.js";
import { ResumableStreams } from "./resumable-streams.js";
import type { StreamReader } from "./stream-reader.js";
import type { OpenedRun } from "../../runs/start-run.js";

let fixture: Fixture | undefined;
afterEach(async () => {
  await fixture?.stop();
  fixture = undefined;
});

async function start(talker: Talker, listenLimits: Partial<ListenLimits> = {}): Promise<Fixture> {
  fixture = await startFixture(talker.script, { gateway: { listenLimits } });
  return fixture;
}

const READER: StreamReader = {
  isSlow: false,
  begin() {},
  write() {},
  drained: () => Promise.resolve(),
  heartbeat() {},
  end() {},
  hangUp() {},
};
const RUN: OpenedRun = {
  threadId: "t",
  runId: "r",
  clientDialect: "1.0",
  client: {},
  hasReceipts: false,
};

test("a client that does not resume in time ends its run at the agent, and then finds no stream", async () => {
  const talker = createTalker(3);
  const context = await start(talker, { reconnectGraceMs: 100 });
  talker.upTo(1);
  const first = await ask(context, { dropAfter: 3 });
  await first.closed;
  await expect.poll(() => talker.hungUp).toEqual(["r1"]);
  expect((await comeBack(context, first.frames.at(-1))).status).toBe(410);
  expect(context.agentRequests).toHaveLength(1);
});

test("a client that does not request resumption ends with its connection, and gets no event ids", async () => {
  const talker = createTalker(3);
  const context = await start(talker);
  talker.upTo(1);
  const reader = await readStream(`${context.url}/agents/support`, { body: INPUT, dropAfter: 3 });
  await reader.closed;
  expect(reader.frames.map(({ id }) => id)).toEqual([undefined, undefined, undefined]);
  await expect.poll(() => talker.hungUp).toEqual(["r1"]);
});

test("with a grace period of 0 no client can resume", async () => {
  const talker = createTalker(3);
  const context = await start(talker, { reconnectGraceMs: 0 });
  talker.upTo(1);
  const reader = await ask(context, { dropAfter: 3 });
  await reader.closed;
  expect(reader.frames[0]?.id).toBeUndefined();
  await expect.poll(() => talker.hungUp).toEqual(["r1"]);
});

test("a stream cannot be resumed from an event that is no longer kept", async () => {
  const talker = createTalker(400, 50);
  const context = await start(talker, { reconnectBytes: 8192 });
  talker.upTo(399);
  const first = await ask(context);
  await expect.poll(() => first.frames.length).toBe(401);
  first.tear();
  expect((await comeBack(context, first.frames[0])).status).toBe(410);
  const second = await comeBack(context, first.frames[399]);
  talker.upTo(400);
  await second.closed;
  expect(typesOf(second.frames).at(-1)).toBe("RUN_FINISHED");
});

test("the agent of a disconnected client waits once the buffer is full, and continues when the client is back", async () => {
  const talker = createTalker(800, 2000);
  const context = await start(talker, { reconnectBytes: 65_536 });
  const first = await ask(context, { dropAfter: 2 });
  await first.closed;
  await noticed(context);
  talker.upTo(800);
  const forwarded = (): number =>
    [...context.gateway.context.sessions.openRuns()][0]?.counters.forwarded ?? 0;
  await expect.poll(forwarded).toBeGreaterThan(30);
  // Once it waits, it stays waiting.
  let before = -1;
  await expect.poll(() => before === (before = forwarded()), { interval: 200 }).toBe(true);
  expect(before).toBeLessThan(800);
  const second = await comeBack(context, first.frames.at(-1));
  await second.closed;
  expect(typesOf(second.frames).at(-1)).toBe("RUN_FINISHED");
  expect(second.frames).toHaveLength(802);
});

test("when all streams together fill the buffer, new streams end with their connection", async () => {
  const talker = createTalker(200, 100);
  const context = await start(talker, { reconnectTotalBytes: 4096 });
  talker.upTo(199);
  const first = await ask(context);
  await expect.poll(() => first.frames.length).toBe(201);
  first.tear();
  await first.closed;
  // A client that has every event can still resume, but from no earlier event.
  expect((await comeBack(context, first.frames[100])).status).toBe(410);
  const second = await comeBack(context, first.frames.at(-1));
  talker.upTo(200);
  await second.closed;
  expect(typesOf(second.frames)).toEqual([
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_END",
    "RUN_FINISHED",
  ]);
});

test.each([
  ["letters of one byte", "x".repeat(1000)],
  ["letters of three bytes", "語".repeat(334)],
])(
  "streams that wait for their clients stop growing once all together fill the buffer: %s",
  (_, delta) => {
    const limits = {
      reconnectGraceMs: 60_000,
      reconnectBytes: 10_000,
      reconnectTotalBytes: 20_000,
    };
    const streams = new ResumableStreams(limits);
    const open = Array.from({ length: 100 }, () => {
      const connection = new LightSignal();
      const holder = { principal: "p", agent: "a", sessionId: "s" };
      const stream = streams.create(holder, connection) as ResumableStream;
      stream.open(READER, connection, RUN);
      connection.abort();
      return stream;
    });
    let kept = 0;
    const frame = { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta } as const;
    for (const stream of open) {
      for (; !stream.isSlow; kept += Buffer.byteLength(delta)) stream.send([frame]);
    }
    expect(kept).toBeGreaterThan(10_000);
    expect(kept).toBeLessThan(22_000);
    // A reattached client reads as before, which frees its buffer.
    open.at(-1)?.attach(0, READER, new LightSignal());
    expect(open.at(-1)?.isSlow).toBe(false);
  },
);

test("a limited number of streams may wait at once; one above the limit ends with its connection", () => {
  const streams = new ResumableStreams(DEFAULT_LISTEN_LIMITS);
  const gone: boolean[] = [];
  const answers = Array.from({ length: 1001 }, () => {
    const connection = new LightSignal();
    const holder = { principal: "p", agent: "a", sessionId: "s" };
    const stream = streams.create(holder, connection) as ResumableStream;
    stream.open(READER, connection, RUN);
    return { connection, stream };
  });
  for (const { connection, stream } of answers) {
    connection.abort();
    gone.push(stream.gone.aborted);
  }
  expect(gone.filter(Boolean)).toHaveLength(1);
  expect(gone.at(-1)).toBe(true);
  // One client resumes, and another stream may wait.
  const back = new LightSignal();
  answers[0]?.stream.attach(0, READER, back);
  back.abort();
  expect(answers[0]?.stream.gone.aborted).toBe(false);
});

test("a stream that ended on a healthy connection expires after the grace period, and frees its buffer", () => {
  vi.useFakeTimers();
  try {
    const limits = { reconnectGraceMs: 1000, reconnectBytes: 10_000, reconnectTotalBytes: 5000 };
    const streams = new ResumableStreams(limits);
    const holder = { principal: "p", agent: "a", sessionId: "s" };
    const frame = { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "x".repeat(100) } as const;
    const from = (stream: ResumableStream): unknown =>
      streams.findPosition({
        lastEventId: `${stream.key}.0`,
        agent: "a",
        holder,
        returnsForever: false,
        isViewer: false,
      });
    for (let count = 0; count < 100; count += 1) {
      const connection = new LightSignal();
      const stream = streams.create(holder, connection)?.open(READER, connection, RUN);
      if (stream === undefined) throw new Error(`no room after ${count} streams`);
      stream.send([frame]);
      stream.end();
      expect(from(stream)).toBeDefined();
      // A client that returns in time gets the end, and may return once more.
      vi.advanceTimersByTime(900);
      stream.attach(0, READER, new LightSignal());
      vi.advanceTimersByTime(900);
      expect(from(stream)).toBeDefined();
      vi.advanceTimersByTime(200);
      expect(from(stream)).toBeUndefined();
    }
  } finally {
    vi.useRealTimers();
  }
});
