import type { AgUiEvent, RunAgentInput } from "@countersign/wire";
import { expect, test } from "vitest";
import { call, inRun, text } from "../testing/events.js";
import { OPEN_POLICY } from "../testing/fixture.js";
import { createInProcess, frames } from "../testing/in-process.js";
import { RunTrace } from "../thread/run-trace.js";
import { stateOf } from "../thread/thread-state.js";

const IDS = { threadId: "t", runId: "r" };
const INPUT: RunAgentInput = { ...IDS, messages: [] };
const each = (count: number, make: (at: number) => object[]): object[] =>
  Array.from({ length: count }, (_, at) => make(at)).flat();
const card = (messageId: string, at: number): object => ({
  type: "ACTIVITY_SNAPSHOT",
  messageId,
  activityType: "card",
  content: { at },
});
const called = (at: number, rest: object = {}): object[] => {
  const [start, ...others] = call(`c${at}`, "lookup", "{}");
  return [{ ...start, ...rest }, ...others];
};
const result = (at: number, messageId: string): object => ({
  type: "TOOL_CALL_RESULT",
  toolCallId: `c${at}`,
  messageId,
  content: "x",
});

/** Runs with many units of each kind, each beside many others. */
const RUNS: Record<string, (count: number) => object[]> = {
  messages: (count) => each(count, (at) => text(`m${at}`, "x")),
  reasoning: (count) =>
    each(count, (at) => [
      { type: "REASONING_MESSAGE_START", messageId: `m${at}`, role: "reasoning" },
      { type: "REASONING_MESSAGE_CONTENT", messageId: `m${at}`, delta: "x" },
      { type: "REASONING_MESSAGE_END", messageId: `m${at}` },
    ]),
  calls: (count) => each(count, (at) => called(at)),
  "calls of one message": (count) => [
    ...text("m", "x"),
    ...each(count, (at) => called(at, { parentMessageId: "m" })),
  ],
  "results of the calls of one message": (count) => [
    ...text("m", "x"),
    ...each(count, (at) => [...called(at, { parentMessageId: "m" }), result(at, `r${at}`)]),
  ],
  "encrypted values of the calls of one message": (count) => [
    ...text("m", "x"),
    ...each(count, (at) => [
      ...called(at, { parentMessageId: "m" }),
      {
        type: "REASONING_ENCRYPTED_VALUE",
        subtype: "tool-call",
        entityId: `c${at}`,
        encryptedValue: `e${at}`,
      },
    ]),
  ],
  activities: (count) => each(count, (at) => [card(`a${at}`, at)]),
  "versions of one activity beside messages": (count) => [
    card("a", 0),
    ...each(count, (at) => [...text(`m${at}`, "x"), card("a", at)]),
  ],
  steps: (count) =>
    each(count, (at) => [
      { type: "STEP_STARTED", stepName: `s${at}` },
      { type: "STEP_FINISHED", stepName: `s${at}` },
    ]),
  subagents: (count) =>
    each(count, (at) => [
      { type: "SUBAGENT_STARTED", subagentRunId: `s${at}`, name: "helper" },
      { type: "SUBAGENT_FINISHED", subagentRunId: `s${at}` },
    ]),
  "custom events": (count) => each(count, (at) => [{ type: "CUSTOM", name: `n${at}`, value: at }]),
};

/** The processor time of a run with its ledger, and the characters that it writes there. */
async function cost(events: readonly object[]): Promise<{ time: number; written: number }> {
  const gateway = createInProcess(OPEN_POLICY);
  const trace = new RunTrace(INPUT, stateOf([]));
  let written = 0;
  const follow = (delivered: readonly AgUiEvent[]): undefined => {
    // As if each event arrived alone, which writes most often.
    for (const event of delivered) {
      trace.see(event);
      for (const { value } of trace.take()?.rows ?? []) written += JSON.stringify(value).length;
    }
  };
  const pieces = frames(inRun(IDS, events));
  const before = process.cpuUsage();
  await gateway.run(INPUT, pieces, { beforeDelivery: follow });
  const { user, system } = process.cpuUsage(before);
  await gateway.close();
  return { time: user + system, written };
}

const FEW = 300;
const MANY = 8 * FEW;
/** Tries until the growth is in proportion: other work on the machine makes a try slow, never a quick one. */
const TRIES = 4;

test.each(Object.keys(RUNS))(
  "many %s cost in proportion to their number",
  async (name) => {
    const make = RUNS[name] as (count: number) => object[];
    const few = await cost(make(FEW));
    const many = await cost(make(MANY));
    for (let at = 1; at < TRIES && many.time > 24 * few.time; at++) {
      few.time = Math.max(few.time, (await cost(make(FEW))).time);
      many.time = Math.min(many.time, (await cost(make(MANY))).time);
    }
    // Eight times the number; quadratic cost would be 64 times as much.
    expect(many.written / Math.max(1, few.written)).toBeLessThan(16);
    expect(many.time / few.time).toBeLessThan(24);
  },
  120_000,
);
