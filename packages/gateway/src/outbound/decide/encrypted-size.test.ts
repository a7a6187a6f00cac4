import { utf8Length } from "@countersign/core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { inRun, text } from "../../testing/events.js";
import { OPEN_POLICY } from "../../testing/fixture.js";
import { createInProcess, frames } from "../../testing/in-process.js";

const LIMIT = 300;
const CALL = { id: "c", type: "function", function: { name: "look", arguments: "{}" } };

/** Every form in which an encrypted value reaches a client. */
const FORMS: Readonly<Record<string, (value: string) => object[]>> = {
  "an event on a message": (encryptedValue) => [
    ...text("m", "words"),
    { type: "REASONING_ENCRYPTED_VALUE", subtype: "message", entityId: "m", encryptedValue },
  ],
  "an event on a call": (encryptedValue) => [
    { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "look" },
    { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "{}" },
    { type: "TOOL_CALL_END", toolCallId: "c" },
    { type: "REASONING_ENCRYPTED_VALUE", subtype: "tool-call", entityId: "c", encryptedValue },
  ],
  "the kind of an event's value": (encryptedValueType) => [
    ...text("m", "words"),
    {
      type: "REASONING_ENCRYPTED_VALUE",
      subtype: "message",
      entityId: "m",
      encryptedValue: "",
      encryptedValueType,
    },
  ],
  "the kind of a listed call's value": (encryptedValueType) => [
    {
      type: "MESSAGES_SNAPSHOT",
      messages: [
        {
          id: "m",
          role: "assistant",
          toolCalls: [{ ...CALL, encryptedValue: "", encryptedValueType }],
        },
      ],
    },
  ],
  "a listed message": (encryptedValue) => [
    {
      type: "MESSAGES_SNAPSHOT",
      messages: [{ id: "m", role: "assistant", content: "words", encryptedValue }],
    },
  ],
  "a listed reasoning message": (encryptedValue) => [
    {
      type: "MESSAGES_SNAPSHOT",
      messages: [{ id: "m", role: "reasoning", content: "words", encryptedValue }],
    },
  ],
  "a listed call": (encryptedValue) => [
    {
      type: "MESSAGES_SNAPSHOT",
      messages: [{ id: "m", role: "assistant", toolCalls: [{ ...CALL, encryptedValue }] }],
    },
  ],
};

test("every form of an encrypted value is delivered up to the limit, and none above it", async () => {
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...Object.keys(FORMS)),
      fc.integer({ min: LIMIT - 4, max: LIMIT + 4 }),
      fc.constantFrom("x", "ü", "漢", "😀"),
      async (form, bytes, character) => {
        const gateway = createInProcess(OPEN_POLICY, { listenLimits: { encryptedBytes: LIMIT } });
        runs += 1;
        const ids = { threadId: `t${runs}`, runId: `r${runs}` };
        const wide = character.repeat(Math.floor(bytes / utf8Length(character)));
        const value = wide + "x".repeat(bytes - utf8Length(wide));
        const events = inRun(ids, FORMS[form]?.(value) ?? []);
        const input = { ...ids, protocolVersion: "1.0", messages: [] } as never;
        const { delivered, failures } = await gateway.run(input, frames(events));
        const recorded = gateway.recorder.drafts.some(
          ({ rule }) => rule === "gateway/encrypted-size",
        );
        await gateway.close();
        expect(failures).toEqual([]);
        expect(JSON.stringify(delivered).includes(value)).toBe(bytes <= LIMIT);
        expect(recorded).toBe(bytes > LIMIT);
        expect(delivered.at(-1)?.type).toBe("RUN_FINISHED");
      },
    ),
    { numRuns: 150 },
  );
}, 60_000);
