import { expect, test, vi } from "vitest";
import { createWatchedRecorder } from "./record/watched-recorder.js";
import { CHAT_POLICY } from "../testing/fixture.js";
import { chunk, createInProcess, frames } from "../testing/in-process.js";
import { inRun } from "../testing/events.js";
import type { UpstreamPiece } from "../agent/upstream.js";

const IDS = { threadId: "t", runId: "r" };

test("a thread with more withheld units than the limit ends its run rather than dropping one", async () => {
  const gateway = createInProcess(
    CHAT_POLICY.replace("enabled: true", "max_events_per_second: 1000000"),
  );
  const activities = Array.from({ length: 10_001 }, (_, index) => ({
    type: "ACTIVITY_SNAPSHOT",
    messageId: `a${index}`,
    activityType: "form",
    content: {},
  }));
  const { delivered } = await gateway.run({ ...IDS, messages: [] }, frames(inRun(IDS, activities)));
  await gateway.close();
  expect(delivered.map(({ type }) => type)).toEqual(["RUN_STARTED", "RUN_ERROR"]);
  expect(delivered[1]).toMatchObject({ code: "GATEWAY_LIMIT" });
});

test("receipts are in the order of the events, in whatever order the store responds", async () => {
  const gateway = createInProcess(CHAT_POLICY);
  const { recorder } = gateway;
  const appendAll = recorder.appendAll.bind(recorder);
  let turn = 0;
  recorder.appendAll = async (drafts) => {
    const appended = await appendAll(drafts);
    turn += 1;
    await new Promise((resolve) => setTimeout(resolve, turn % 2 === 0 ? 5 : 15));
    return appended;
  };
  const deltas = ["a", "b", "c", "d", "e"].map((delta) => ({
    type: "TEXT_MESSAGE_CONTENT",
    messageId: "m",
    delta,
  }));
  const { delivered } = await gateway.run(
    { ...IDS, messages: [] },
    frames(
      inRun(IDS, [
        { type: "TEXT_MESSAGE_START", messageId: "m" },
        ...deltas,
        { type: "TEXT_MESSAGE_END", messageId: "m" },
      ]),
    ),
  );
  await gateway.close();
  const text = delivered.map((event) => (event.type === "TEXT_MESSAGE_CONTENT" ? event.delta : ""));
  expect(text.join("")).toBe("abcde");
  expect(delivered.at(-1)?.type).toBe("RUN_FINISHED");
});

test("many busy streams wait for a slow log together, and none is refused", async () => {
  const gateway = createInProcess(
    CHAT_POLICY.replace("enabled: true", "max_events_per_second: 1000000"),
  );
  const appendAll = gateway.recorder.appendAll.bind(gateway.recorder);
  let pending = 0;
  let most = 0;
  // A log confirms everything of one flush at once, so all streams that wait for room continue together.
  let flushed = new Promise<void>((resolve) => setTimeout(resolve, 20));
  const watched = createWatchedRecorder({
    appendAll: async (drafts) => {
      pending += drafts.length;
      most = Math.max(most, pending);
      const flush = flushed;
      await flush;
      if (flush === flushed) flushed = new Promise((resolve) => setTimeout(resolve, 20));
      pending -= drafts.length;
      return appendAll(drafts);
    },
  });
  gateway.recorder.appendAll = (drafts) => watched.appendAll(drafts);
  gateway.recorder.room = () => watched.room();
  const runs = Array.from({ length: 24 }, (_, index) => {
    const ids = { threadId: `t${index}`, runId: `r${index}` };
    const deltas = Array.from({ length: 700 }, () => ({
      type: "TEXT_MESSAGE_CONTENT",
      messageId: "m",
      delta: "x",
    }));
    const events = inRun(ids, [
      { type: "TEXT_MESSAGE_START", messageId: "m" },
      ...deltas,
      ...deltas,
      { type: "TEXT_MESSAGE_END", messageId: "m" },
    ]);
    return gateway.run({ ...ids, messages: [] }, [
      chunk(events.slice(0, 700)),
      chunk(events.slice(700)),
    ]);
  });
  const results = await Promise.all(runs);
  await gateway.close();
  for (const { delivered } of results) {
    expect(delivered).toHaveLength(1404);
    expect(delivered.at(-1)?.type).toBe("RUN_FINISHED");
  }
  // The limit of the watched recorder and one chunk over it; the log itself refuses at 16,384.
  expect(most).toBeLessThan(8192 + 704);
});

const inOneFrame = (events: readonly object[]): UpstreamPiece => ({
  kind: "frame",
  text: events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(": comment\n\n"),
});

test.each([
  ["read", chunk],
  ["frame", inOneFrame],
])(
  "thousands of events in one %s are judged in several turns, all of them and in order",
  async (_name, asOne) => {
    const gateway = createInProcess(
      CHAT_POLICY.replace("enabled: true", "max_events_per_second: 1000000"),
    );
    const deltas = Array.from({ length: 2000 }, (_, at) => ({
      type: "TEXT_MESSAGE_CONTENT",
      messageId: "m",
      delta: `${at} ${"é".repeat(at % 7)}`,
    }));
    const events = inRun(IDS, [
      { type: "TEXT_MESSAGE_START", messageId: "m" },
      ...deltas,
      { type: "TEXT_MESSAGE_END", messageId: "m" },
    ]);
    // A clock on which every reading takes a whole turn.
    let now = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 30));
    const arrivals = new Set<number>();
    const { delivered } = await gateway.run({ ...IDS, messages: [] }, [asOne(events)], {
      onGroup: (_passages, arrivedAt) => arrivals.add(arrivedAt),
    });
    clock.mockRestore();
    await gateway.close();
    expect(delivered.map(({ type }) => type)).toEqual(
      events.map((event) => (event as { type: string }).type),
    );
    expect(delivered.flatMap((event) => ("delta" in event ? [event.delta] : []))).toEqual(
      deltas.map(({ delta }) => delta),
    );
    expect(arrivals.size).toBeGreaterThan(20);
  },
);

test("if each event takes long, a read is judged about one event at a time", async () => {
  const gateway = createInProcess(
    CHAT_POLICY.replace("enabled: true", "max_events_per_second: 1000000"),
  );
  const deltas = Array.from({ length: 300 }, (_, at) => ({
    type: "TEXT_MESSAGE_CONTENT",
    messageId: "m",
    delta: `${at}`,
  }));
  const events = inRun(IDS, [
    { type: "TEXT_MESSAGE_START", messageId: "m" },
    ...deltas,
    { type: "TEXT_MESSAGE_END", messageId: "m" },
  ]);
  // A clock that advances six milliseconds with every reading.
  let now = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 6));
  const groups: number[] = [];
  await gateway.run({ ...IDS, messages: [] }, [chunk(events)], {
    onGroup: (contexts) => groups.push(contexts),
  });
  clock.mockRestore();
  await gateway.close();
  // The first slices are longer, because the gateway does not know the cost of the events yet.
  expect(Math.max(...groups.slice(3))).toBeLessThanOrEqual(4);
});
