import * as fc from "fast-check";
import { expect, test } from "vitest";
import { selectResponse } from "./response.js";
import { computeEffectiveState } from "./state.js";
import { createTriggerState, evaluateTrigger } from "./trigger.js";

const fallback = { content: "fallback" };
const first = { when: { tool: "a" }, content: "first" };
const second = { when: { tool: { starts_with: "a" } }, content: "second" };

test.each([
  ["the first entry that holds", [first, second, fallback], { tool: "a" }, first],
  ["a later entry", [first, second, fallback], { tool: "ab" }, second],
  ["the entry without when, wherever it stands", [fallback, first], { tool: "a" }, first],
  ["the entry without when, if no other holds", [fallback, first], { tool: "z" }, fallback],
  ["an empty when, which always holds", [first, { when: {} }, fallback], {}, { when: {} }],
  ["nothing", [first], {}, null],
  ["nothing of nothing", [], {}, null],
])("a dispatch list answers with %s", (_title, entries, payload, expected) => {
  expect(selectResponse(entries, payload as never)).toEqual(expected);
});

const event = { event: "custom", content: { name: "x" } };

test("a trigger fires when its event has come often enough", () => {
  const trigger = { event: "custom", match: { name: "x" }, count: 2 };
  const start = createTriggerState();
  const other = evaluateTrigger(trigger, { event: "raw", content: {} }, 0, start);
  const missed = evaluateTrigger(trigger, { event: "custom", content: {} }, 0, other.state);
  const once = evaluateTrigger(trigger, event, 0, missed.state);
  const twice = evaluateTrigger(trigger, event, 0, once.state);
  expect([other.advanced, missed.advanced, once.advanced]).toEqual([false, false, false]);
  expect(once.state.eventCount).toBe(1);
  expect(twice).toMatchObject({ advanced: true, reason: "event_matched" });
  expect(start.eventCount).toBe(0);
});

test("time comes before the event, fires on silence, and leaves the counter alone", () => {
  const trigger = { event: "custom", after: "10s" };
  const state = createTriggerState();
  expect(evaluateTrigger(trigger, null, 9.9, state)).toEqual({ advanced: false, state });
  const late = evaluateTrigger(trigger, event, 10, state);
  expect(late).toEqual({ advanced: true, reason: "timeout", state: { eventCount: 0 } });
  expect(evaluateTrigger({ after: "0s" }, null, 0, state).reason).toBe("timeout");
});

test("the counter fires exactly at the count, for any count and any noise", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), fc.array(fc.boolean()), (count, hits) => {
      let state = createTriggerState();
      let seen = 0;
      for (const hit of hits) {
        const offered = hit ? event : { event: "raw", content: {} };
        const result = evaluateTrigger({ event: "custom", count }, offered, 0, state);
        seen += hit ? 1 : 0;
        expect(result.advanced).toBe(hit && seen >= count);
        ({ state } = result);
      }
    }),
  );
});

test("the state in force is the last one defined, whole, and a copy", () => {
  const phases = [{ state: { a: { b: 1 } } }, {}, { state: { c: 2 } }];
  expect(computeEffectiveState(phases, 0)).toEqual({ a: { b: 1 } });
  expect(computeEffectiveState(phases, 1)).toEqual({ a: { b: 1 } });
  expect(computeEffectiveState(phases, 2)).toEqual({ c: 2 });
  expect(computeEffectiveState([{}], 0)).toBeUndefined();
  const copy = computeEffectiveState(phases, 1) as { a: { b: number } };
  copy.a.b = 9;
  expect(phases[0]?.state).toEqual({ a: { b: 1 } });
});
