import type { JsonObject } from "@countersign/core";
import * as fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import { EnvelopeTexts } from "./envelope-texts.js";
import { settingsOf } from "./testing/settings-of.js";
import { TextScanner } from "./text-scanner.js";

/** Ways in which a client can join one text: six keys, with and without the message. */
const MOST_SCANS = 128;

afterEach(() => vi.restoreAllMocks());

const id = fc.option(fc.constantFrom("a", "b"), { nil: undefined });
const envelope = fc.record(
  {
    agent_id: id,
    session_id: id,
    target: fc.record({ component_type: id, component_id: id }),
    payload: fc.record({
      text: fc.string({ maxLength: 20 }),
      id,
      run_id: id,
      parent_run_id: id,
      thread_id: id,
    }),
  },
  { requiredKeys: ["payload"] },
);

test("no text of an envelope is scanned more often than there are ways to join it, whatever came before", () => {
  const pushed = vi.spyOn(TextScanner.prototype, "push");
  let most = 0;
  fc.assert(
    fc.property(fc.array(envelope, { maxLength: 8 }), (envelopes) => {
      const texts = new EnvelopeTexts(settingsOf());
      for (const one of envelopes) {
        pushed.mockClear();
        texts.read(one as unknown as JsonObject);
        texts.settle(one as unknown as JsonObject, true);
        const scanned = pushed.mock.calls.map(([text]) => text);
        expect(scanned.every((text) => text === one.payload.text)).toBe(true);
        expect(scanned.length).toBeLessThanOrEqual(MOST_SCANS);
        most = Math.max(most, scanned.length);
      }
    }),
    { numRuns: 300 },
  );
  expect(most).toBe(MOST_SCANS);
});
