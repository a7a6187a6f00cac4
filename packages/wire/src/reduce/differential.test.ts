import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { AgUiEvent } from "../model/event.js";
import type { RunAgentInput } from "../model/input.js";
import type { Message } from "../model/message.js";
import { meetsReducerDifference } from "../testing/known-differences.js";
import { officialResult, officialVerdict } from "../testing/official-pipeline.js";
import { mutateStream } from "../testing/stream-mutations.js";
import { generateStream } from "../testing/streams.js";
import { reduceEvents } from "./reducer.js";

// The official reducer copies the conversation at every event (about 5 ms a stream), so few by default.
const RUNS = Math.ceil(Number(process.env["COUNTERSIGN_FUZZ_RUNS"] ?? 600) / 2);
const TIMEOUT = 30_000 + RUNS * 50;

beforeEach(() => {
  // The official client warns about everything it skips.
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  // In a test environment it also copies and freezes everything before each event.
  vi.stubEnv("NODE_ENV", "production");
  vi.stubEnv("VITEST_WORKER_ID", "");
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

type Comparable = { messages: unknown; state: unknown; interrupts: unknown; pending: unknown };

function ours(input: RunAgentInput, events: readonly AgUiEvent[]): Comparable {
  const view = reduceEvents(events, {
    messages: input.messages,
    ...(input.state !== undefined && { state: input.state }),
  });
  return {
    messages: view.messages,
    state: view.state,
    interrupts: view.pendingInterrupts,
    pending: view.status === "finished" ? view.pendingToolCallIds : undefined,
  };
}

async function official(
  input: RunAgentInput,
  events: readonly AgUiEvent[],
  status: unknown,
): Promise<Comparable> {
  const result = await officialResult(input, events);
  return {
    messages: result.messages,
    state: result.state,
    interrupts: result.pendingInterrupts,
    pending: status === undefined ? undefined : result.pendingToolCallIds,
  };
}

async function difference(input: RunAgentInput, events: readonly AgUiEvent[]): Promise<unknown> {
  const left = ours(input, events);
  const right = await official(input, events, left.pending);
  try {
    expect(left).toEqual(right);
    return undefined;
  } catch {
    return { ours: left, official: right };
  }
}

async function minimise(input: RunAgentInput, events: readonly AgUiEvent[]): Promise<unknown> {
  let smallest = [...events];
  for (let index = smallest.length - 1; index >= 0; index--) {
    const shorter = smallest.toSpliced(index, 1);
    if ((await difference(input, shorter)) !== undefined) smallest = shorter;
  }
  return { input, stream: smallest, difference: await difference(input, smallest) };
}

async function differences(mutated: boolean): Promise<{ compared: number; found: unknown[] }> {
  const found: unknown[] = [];
  let compared = 0;
  for (let seed = 0; seed < RUNS && found.length < 2; seed++) {
    const { input, events } = generateStream(seed);
    // The order suite compares refusals; this one compares the events before them.
    const { passed } = officialVerdict(mutated ? mutateStream(seed, events) : events);
    if (meetsReducerDifference(input, passed)) continue;
    compared++;
    if ((await difference(input, passed)) !== undefined) found.push(await minimise(input, passed));
  }
  return { compared, found };
}

test("differences R1 and R2 are differences: the client stores a number as activity content, and patches no absent state", async () => {
  const input: RunAgentInput = { threadId: "t", runId: "r", messages: [] };
  const { messages, state } = await officialResult(input, [
    { type: "ACTIVITY_SNAPSHOT", messageId: "a", activityType: "plan", content: { x: 1 } },
    {
      type: "ACTIVITY_DELTA",
      messageId: "a",
      activityType: "form",
      patch: [{ op: "replace", path: "", value: 5 }],
    },
    { type: "STATE_DELTA", delta: [{ op: "add", path: "/a", value: 1 }] },
  ]);
  expect(messages).toEqual([{ id: "a", role: "activity", activityType: "form", content: 5 }]);
  expect(state).toBeUndefined();
});

test("difference R5: of two messages with one id, text after a snapshot reaches only the first", async () => {
  const twin: Message = { id: "m", role: "assistant", content: "" };
  const input: RunAgentInput = {
    threadId: "t",
    runId: "r",
    messages: [twin, { ...twin }],
    state: {},
  };
  const stream: AgUiEvent[] = [
    { type: "MESSAGES_SNAPSHOT", messages: [{ ...twin, content: "a" }] },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "b" },
  ];
  const contents = (messages: readonly Message[]) => messages.map(({ content }) => content);
  expect(contents(reduceEvents(stream, input).messages)).toEqual(["ab", "a"]);
  expect(contents((await officialResult(input, stream)).messages)).toEqual(["ab", "ab"]);
});

test(
  "generated streams reduce to the messages and state of the official client",
  { timeout: TIMEOUT },
  async () => {
    const { compared, found } = await differences(false);
    expect(found).toEqual([]);
    expect(compared).toBeGreaterThan(RUNS * 0.7);
  },
);

test(
  "mutated streams, up to where they are refused, reduce to the messages and state of the official client",
  { timeout: TIMEOUT },
  async () => {
    const { compared, found } = await differences(true);
    expect(found).toEqual([]);
    expect(compared).toBeGreaterThan(RUNS * 0.7);
  },
);
