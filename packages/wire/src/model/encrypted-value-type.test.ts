import type { JsonObject } from "@countersign/core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { downgradeInput } from "../dialects/index.js";
import { enforceEvent, enforceInput } from "../enforce/index.js";
import { createReducer } from "../reduce/index.js";
import type { AgUiEvent } from "./event.js";

const KIND = "anthropic-signature";
const VALUE = { encryptedValue: "abc" };
const BOTH = { ...VALUE, encryptedValueType: KIND };

function call(fields: JsonObject): JsonObject {
  return { id: "c", type: "function", function: { name: "n", arguments: "{}" }, ...fields };
}

/** One message of each role that may hold an encrypted value, and a call that does. */
function messages(fields: JsonObject): JsonObject[] {
  return [
    { id: "1", role: "user", content: "x", ...fields },
    { id: "2", role: "system", content: "x", ...fields },
    { id: "3", role: "developer", content: "x", ...fields },
    { id: "4", role: "assistant", toolCalls: [call(fields)], ...fields },
    { id: "5", role: "tool", toolCallId: "c", content: "x", ...fields },
    { id: "6", role: "reasoning", content: "x", ...fields },
  ];
}

test("the kind stays beside its value on every message and call, as the very same object", () => {
  const snapshot = { type: "MESSAGES_SNAPSHOT", messages: messages(BOTH) };
  expect(enforceEvent(snapshot).event).toBe(snapshot);
  const input = { threadId: "t", runId: "r", messages: messages(BOTH) };
  expect(enforceInput(input).input).toBe(input);
  const event = { type: "REASONING_ENCRYPTED_VALUE", subtype: "message", entityId: "1", ...BOTH };
  expect(enforceEvent(event).event).toBe(event);
});

test("a kind without a value is removed with a note, and nothing else", () => {
  const alone = messages({ encryptedValueType: KIND });
  const { event, notes } = enforceEvent({ type: "MESSAGES_SNAPSHOT", messages: alone });
  expect(event).toEqual({ type: "MESSAGES_SNAPSHOT", messages: messages({}) });
  expect(notes).toHaveLength(alone.length + 1);
  const { input } = enforceInput({ threadId: "t", runId: "r", messages: alone });
  expect(input.messages).toEqual(messages({}));
});

test("a kind that is not a string is malformed", () => {
  for (const encryptedValueType of [null, 5, {}]) {
    const wrong = messages({ ...VALUE, encryptedValueType });
    expect(() => enforceEvent({ type: "MESSAGES_SNAPSHOT", messages: wrong })).toThrow(
      expect.objectContaining({ code: "ERR_ENFORCE_MALFORMED_VALUE" }),
    );
  }
});

test("the reducer replaces value and kind together: the last event says what both are", () => {
  const kinds = fc.array(fc.option(fc.string(), { nil: undefined }), {
    minLength: 1,
    maxLength: 5,
  });
  fc.assert(
    fc.property(kinds, fc.constantFrom("message", "tool-call"), (list, subtype) => {
      const start: AgUiEvent[] = [
        { type: "RUN_STARTED", threadId: "t", runId: "r" },
        { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "n", parentMessageId: "m" },
      ];
      const reducer = createReducer({ messages: [], state: {} });
      for (const event of start) reducer.push(event);
      for (const [index, kind] of list.entries()) {
        reducer.push({
          type: "REASONING_ENCRYPTED_VALUE",
          subtype: subtype as "message",
          entityId: subtype === "message" ? "m" : "c",
          encryptedValue: `v${index}`,
          ...(kind === undefined ? {} : { encryptedValueType: kind }),
        });
      }
      const [message = {}] = reducer.snapshot().messages as unknown as JsonObject[];
      const holder = subtype === "message" ? message : (message["toolCalls"] as JsonObject[])[0];
      const last = list.at(-1);
      expect(holder).toMatchObject({ encryptedValue: `v${list.length - 1}` });
      expect(holder?.["encryptedValueType"]).toBe(last);
      expect(Object.hasOwn(holder ?? {}, "encryptedValueType")).toBe(last !== undefined);
    }),
  );
});

test.each(["0.0.55", "0.0.59"] as const)(
  "an agent of %s gets the value without its kind, with notes",
  (target) => {
    const input = { threadId: "t", runId: "r", messages: messages(BOTH) } as never;
    const { body, notes } = downgradeInput(input, target);
    expect(JSON.stringify(body)).not.toContain(KIND);
    expect(JSON.stringify(body)).toContain(VALUE.encryptedValue);
    expect(notes.filter(({ path }) => path.endsWith("/encryptedValueType"))).toHaveLength(7);
  },
);
