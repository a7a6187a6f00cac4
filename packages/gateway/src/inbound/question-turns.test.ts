import { compilePolicy, loadPolicy } from "@countersign/policy";
import { expect, test } from "vitest";
import { call, text } from "../testing/events.js";
import { OPEN_POLICY } from "../testing/fixture.js";
import { createInProcess, frames } from "../testing/in-process.js";
import type { ThreadState } from "../thread/thread-state.js";
import { approvalsOf } from "./approval.js";

const IDS = { threadId: "t", runId: "r" };

/** A thread whose person approved one payment. */
const APPROVED = { calls: new Map(), declined: [] } as unknown as ThreadState;
const approvals = () =>
  approvalsOf(
    compilePolicy(loadPolicy(OPEN_POLICY)),
    [{ call: { name: "pay", arguments: "" }, isGranted: true }],
    APPROVED,
  );
const listOf = (size: number): object => ({
  type: "MESSAGES_SNAPSHOT",
  messages: Array.from({ length: size }, (_, at) => ({
    id: `m${at}`,
    role: "assistant",
    content: "",
  })),
});

test.each([
  [
    "asks",
    [
      {
        type: "RUN_FINISHED",
        ...IDS,
        outcome: { type: "interrupt", interrupts: [{ id: "i", reason: "r", toolCallId: "c" }] },
      },
    ],
  ],
  ["succeeds", [{ type: "RUN_FINISHED", ...IDS }]],
  ["fails", [{ type: "RUN_ERROR", message: "no" }]],
  ["breaks off", []],
  ["is malformed", [{ type: "TEXT_MESSAGE_START" }]],
  [
    "exceeds the limit of lists",
    [...Array.from({ length: 60 }, () => listOf(1)), { type: "RUN_FINISHED", ...IDS }],
  ],
])(
  "the events behind a call that waits are decided in many turns, in order, if the run %s",
  async (_, end) => {
    const gateway = createInProcess(
      OPEN_POLICY.replace("enabled: true", "max_events_per_second: 1000000"),
    );
    const behind = [
      ...Array.from({ length: 50 }, () => listOf(3)),
      ...Array.from({ length: 300 }, (__, at) => text(`t${at}`, "x")).flat(),
    ];
    const events = [
      { type: "RUN_STARTED", ...IDS },
      ...call("c", "pay", '{"n":2}'),
      ...behind,
      ...end,
    ];
    const groups: string[][] = [];
    const { delivered } = await gateway.run({ ...IDS, messages: [] }, frames(events), {
      approvals: approvals(),
      beforeDelivery: (shown) => {
        groups.push(shown.map(({ type }) => type));
        return undefined;
      },
    });
    await gateway.close();
    // What is flushed together was decided in one turn.
    for (const types of groups.slice(1)) {
      expect(types.filter((type) => type === "MESSAGES_SNAPSHOT").length).toBeLessThanOrEqual(1);
      expect(types.length).toBeLessThanOrEqual(100);
    }
    expect(groups.length).toBeGreaterThan(50);
    const isWhole = (event: object): boolean => !("toolCallId" in event) && event !== end.at(-1);
    const sent = events.filter(isWhole).map((event) => (event as { type: string }).type);
    const seen = delivered.filter((event) => !("toolCallId" in event)).map(({ type }) => type);
    expect(seen.slice(0, sent.length)).toEqual(sent);
    expect(seen.length).toBe(sent.length + 1);
  },
);
