import type { AgUiEvent, RunAgentInput } from "@countersign/wire";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { StoredRow } from "../store/keyed-store.js";
import { RunTrace } from "./run-trace.js";
import { stateOf } from "./thread-state.js";

const INPUT: RunAgentInput = { threadId: "t", runId: "r", messages: [] };

/** A message list in which a message has the calls from `c0` on. */
const list = (messageId: string, count: number): object => ({
  type: "MESSAGES_SNAPSHOT",
  messages: [
    {
      id: messageId,
      role: "assistant",
      toolCalls: Array.from({ length: count }, (_, at) => ({
        id: `${messageId}-c${at}`,
        type: "function",
        function: { name: "lookup", arguments: "{}" },
      })),
    },
  ],
});
const calls = (messageId: string, from: number, count: number): object[] =>
  Array.from({ length: count }, (_, index) => {
    const toolCallId = `${messageId}-c${from + index}`;
    return [
      {
        type: "TOOL_CALL_START",
        toolCallId,
        toolCallName: "lookup",
        parentMessageId: messageId,
      },
      { type: "TOOL_CALL_ARGS", toolCallId, delta: `{"at":${index}}` },
      { type: "TOOL_CALL_END", toolCallId },
    ];
  }).flat();

const act = fc.oneof(
  fc.record({
    messageId: fc.constantFrom("m", "n"),
    from: fc.integer({ min: 0, max: 90 }),
    count: fc.integer({ min: 1, max: 40 }),
  }),
  fc.record({ messageId: fc.constantFrom("m", "n"), count: fc.integer({ min: 0, max: 100 }) }),
);

test("the rows of a message with many calls are read back as the run knows it", () => {
  fc.assert(
    fc.property(fc.array(act, { minLength: 1, maxLength: 8 }), fc.boolean(), (acts, isCut) => {
      const stored = new Map<string, StoredRow>();
      const state = stateOf([]);
      const trace = new RunTrace(INPUT, state);
      const save = (write: ReturnType<RunTrace["take"]>): void => {
        for (const { kind, id } of write?.removed ?? []) stored.delete(`${kind} ${id}`);
        for (const row of write?.rows ?? []) {
          stored.set(`${row.kind} ${row.id}`, structuredClone(row));
        }
      };
      for (const one of acts) {
        const { messageId, count } = one;
        const events = "from" in one ? calls(messageId, one.from, count) : [list(messageId, count)];
        for (const event of events) {
          trace.see(event as AgUiEvent);
          save(trace.take());
        }
      }
      const known = [...stateOf([...stored.values()]).messages];
      expect(JSON.parse(JSON.stringify(known))).toEqual(
        JSON.parse(JSON.stringify([...state.messages])),
      );
      // A list that removes calls leaves the client of a cut run with either version.
      if (!isCut || acts.some((one) => !("from" in one))) return;
      save(trace.cut());
      for (const [id, { calls: cut = [] }] of stateOf([...stored.values()]).messages) {
        const ids = cut.map((call) => call.id);
        expect(ids).toEqual(state.messages.get(id)?.calls?.map((call) => call.id));
      }
    }),
    { numRuns: 60 },
  );
});
