import type { JsonObject } from "@countersign/core";
import { isCountersignError } from "@countersign/core";
import * as fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import { CONTENT_PARTS } from "../vocabulary/content-part.js";
import { createContentReader } from "./reader.js";
import { settingsOf } from "./testing/settings-of.js";
import { TextScanner } from "./text-scanner.js";

const MOST = 1000;

afterEach(() => vi.restoreAllMocks());

/** Texts of which a few together are about as long as an event may be. */
const words = fc
  .tuple(fc.constantFrom("a", "![x](", "&#x3c;", "\\", "`"), fc.nat(700))
  .map(([unit, length]) => unit.repeat(length).slice(0, length));
const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    words,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom("a", "error", "a name with spaces"), tie("value")),
  ),
})).value;
const id = fc.constantFrom("a", "b");

const event = fc.oneof(
  fc.record({
    type: fc.constantFrom("TEXT_MESSAGE_CONTENT", "REASONING_MESSAGE_CONTENT"),
    messageId: id,
    delta: words,
    metadata: value,
  }),
  fc.record({ type: fc.constantFrom("RUN_FINISHED", "SUBAGENT_FINISHED"), result: value }),
  fc.record({ type: fc.constantFrom("RUN_ERROR", "SUBAGENT_ERROR"), message: words, code: words }),
  fc.record({ type: fc.constant("STATE_SNAPSHOT"), snapshot: value }),
  fc.record({ type: fc.constant("CUSTOM"), name: words, value }),
  fc.record({
    event_type: fc.constantFrom("text_stream", "error", "state_sync"),
    agent_id: id,
    target: fc.record({ component_type: id, component_id: id }),
    payload: fc.oneof(value, fc.record({ text: words, message_id: id, error: value })),
  }),
) as fc.Arbitrary<JsonObject>;

test("no event takes more characters than the policy reads for one, and one that would is not read at all", () => {
  const pushed = vi.spyOn(TextScanner.prototype, "push");
  fc.assert(
    fc.property(
      fc.array(fc.tuple(event, fc.boolean()), { maxLength: 6 }),
      fc.constantFrom(300, Number.POSITIVE_INFINITY),
      fc.boolean(),
      (events, maxCharacters, linksInErrors) => {
        const parts = new Set(CONTENT_PARTS);
        const settings = { parts, maxCharacters, linksInErrors, maxEventCharacters: MOST };
        const reader = createContentReader(settingsOf(settings), (name) => `said ${name}`);
        for (const [one, isDelivered] of events) {
          const measured = reader.measure(one);
          pushed.mockClear();
          const found = kindOf(() => reader.read(one));
          reader.settle(one, isDelivered);
          const texts = pushed.mock.calls.map(([text]) => text);
          // A text that is too long by itself is found before its first character is read.
          const read = texts.filter(({ length }) => length <= maxCharacters);
          expect(read.reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(MOST);
          expect(found === "max_event_characters").toBe(measured > MOST);
          expect(measured > MOST && texts.length > 0).toBe(false);
          // An envelope that cannot be read ends its run.
          if (found === "stopped") return;
        }
      },
    ),
    { numRuns: 500 },
  );
});

function kindOf(read: () => { readonly kind: string } | null): string | undefined {
  try {
    return read()?.kind;
  } catch (error) {
    if (isCountersignError(error, "ERR_LIMIT_EXCEEDED")) return "stopped";
    throw error;
  }
}

test("delivered envelopes that are read once more take no more than one event may", () => {
  const pushed = vi.spyOn(TextScanner.prototype, "push");
  const reader = createContentReader(settingsOf({ maxEventCharacters: 400_000 }));
  const send = (number: number, isDelivered: boolean): number => {
    const bit = (at: number): string => String((number >> at) & 1);
    const one = {
      event_type: "text_stream",
      agent_id: bit(0),
      session_id: bit(1),
      target: { component_type: bit(2), component_id: bit(3) },
      payload: { text: "w".repeat(2000), run_id: bit(4) },
    };
    pushed.mockClear();
    reader.read(one);
    reader.settle(one, isDelivered);
    return pushed.mock.calls.reduce((sum, [text]) => sum + text.length, 0);
  };
  const stopped = kindOf(() => {
    for (let number = 0; number < 100; number += 1) {
      expect(send(number % 32, number % 8 !== 7)).toBeLessThanOrEqual(400_000);
    }
    return null;
  });
  expect(stopped).toBe("stopped");
});
