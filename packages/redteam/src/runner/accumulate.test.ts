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

const place = { messageId: "m", activityType: "page" };
const activityOf = (joined: ReturnType<typeof createAccumulator>) =>
  joined.entries().find(({ event }) => event === "_accumulated_activity")?.content;

test("an activity comes back as its patches leave it, and its text whole however it was cut", () => {
  fc.assert(
    fc.property(fc.array(fc.string()), (pieces) => {
      const joined = createAccumulator();
      joined.add("activity_snapshot", { ...place, content: { html: [] } });
      for (const value of pieces) {
        joined.add("activity_delta", { ...place, patch: [{ op: "add", path: "/html/-", value }] });
      }
      const content = { html: pieces };
      expect(activityOf(joined)).toEqual({ ...place, content, text: pieces.join("") });
    }),
    { numRuns: 50 },
  );
});

test("a delta changes the type of an activity; one that does not apply leaves nothing to judge", () => {
  const joined = createAccumulator();
  joined.add("activity_delta", { ...place, patch: [] });
  expect(activityOf(joined)).toBeUndefined();
  joined.add("activity_snapshot", { ...place, content: { a: 1 } });
  joined.add("activity_snapshot", { ...place, content: { b: 2 }, replace: false });
  joined.add("activity_delta", { messageId: "m", activityType: "form", patch: [] });
  expect(activityOf(joined)).toMatchObject({ activityType: "form", content: { a: 1 } });
  for (const patch of [
    [{ op: "remove", path: "/zzz" }],
    [{ path: "/a" }],
    [null],
    [{ op: "move", path: "/b" }],
  ]) {
    const broken = createAccumulator();
    broken.add("activity_snapshot", { ...place, content: { a: 1 } });
    broken.add("activity_delta", { ...place, patch });
    expect(activityOf(broken)).toBeUndefined();
  }
});
