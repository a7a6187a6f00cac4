import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createAccumulator } from "./accumulate.js";
import { createToolCallNames } from "./correlate.js";

test("a text comes back whole however it was cut, as contents or as chunks", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.string(), fc.boolean())), (pieces) => {
      const joined = createAccumulator();
      joined.add("text_message_start", { messageId: "m", role: "assistant" });
      for (const [delta, isChunk] of pieces) {
        joined.add(isChunk ? "text_message_chunk" : "text_message_content", {
          messageId: "m",
          delta,
        });
      }
      const content = pieces.map(([delta]) => delta).join("");
      expect(joined.content()?.["messages"]).toEqual([
        { id: "m", role: "assistant", content, tool_calls: [] },
      ]);
    }),
    { numRuns: 50 },
  );
});

test("messages keep the order of their first appearance, ids like __proto__ included", () => {
  const ids = fc.uniqueArray(fc.oneof(fc.string({ minLength: 1 }), fc.constant("__proto__")), {
    maxLength: 8,
  });
  fc.assert(
    fc.property(ids, (order) => {
      const joined = createAccumulator();
      for (const messageId of [...order, ...order.toReversed()]) {
        joined.add("text_message_content", { messageId, delta: "x" });
      }
      const messages = (joined.content()?.["messages"] ?? []) as { id: string; content: string }[];
      expect(messages.map(({ id }) => id)).toEqual(order);
      expect(messages.every(({ content }) => content === "xx")).toBe(true);
    }),
    { numRuns: 50 },
  );
});

test("names follow their calls through any interleaving", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("a", "b", "c")), (order) => {
      const names = createToolCallNames();
      for (const id of ["a", "b", "c"]) {
        names.enrich("tool_call_start", { toolCallId: id, toolCallName: `tool-${id}` });
      }
      for (const id of order) {
        const event = { toolCallId: id, delta: "" };
        expect(names.enrich("tool_call_args", event)["toolCallName"]).toBe(`tool-${id}`);
        expect(event).not.toHaveProperty("toolCallName");
      }
    }),
    { numRuns: 50 },
  );
});
