import { isCountersignError } from "@countersign/core";
import { array, assert, property } from "fast-check";
import { expect, test } from "vitest";
import { createChunkExpander } from "../chunks/index.js";
import type { AgUiEvent } from "../model/event.js";
import { createRunAutomaton } from "../order/index.js";
import { arbitraryEvent, arbitraryInput } from "../testing/arbitraries.js";
import { mutateStream } from "../testing/stream-mutations.js";
import { generateStream } from "../testing/streams.js";
import { createReducer } from "./reducer.js";

const RUNS = Number(process.env["COUNTERSIGN_FUZZ_RUNS"] ?? 500);

/** Any event order gives only coded errors, and the reducer never alters the events. */
function survives(
  events: readonly AgUiEvent[],
  options: Parameters<typeof createRunAutomaton>[0],
): boolean {
  const expander = createChunkExpander();
  const automaton = createRunAutomaton(options);
  const reducer = createReducer({ messages: options?.input?.messages ?? [] });
  const before = JSON.stringify(events);
  try {
    for (const event of events) {
      for (const expanded of expander.push(event)) {
        automaton.push(expanded);
        reducer.push(expanded);
      }
    }
    automaton.end();
  } catch (error) {
    if (!isCountersignError(error)) return false;
  }
  reducer.snapshot();
  return JSON.stringify(events) === before;
}

test("any well-formed events in any order are survived, and not altered", () => {
  const anything = property(
    arbitraryInput(),
    array(arbitraryEvent(), { maxLength: 30 }),
    (input, events) => survives(events, { input, strict: true }),
  );
  expect(() => assert(anything, { numRuns: RUNS })).not.toThrow();
});

test("broken streams are judged and reduced to their end, with bounds that small", () => {
  const fallen: number[] = [];
  for (let seed = 0; seed < RUNS; seed++) {
    const { events } = generateStream(seed);
    const limits = { maxOpenUnits: 1 + (seed % 5), maxStateSize: 200 + (seed % 700) };
    if (!survives(mutateStream(seed, events), { limits })) fallen.push(seed);
  }
  expect(fallen).toEqual([]);
});
