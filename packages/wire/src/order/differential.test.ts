import { isCountersignError } from "@countersign/core";
import { expect, test } from "vitest";
import { createChunkExpander } from "../chunks/index.js";
import type { AgUiEvent } from "../model/event.js";
import { officialVerdict } from "../testing/official-pipeline.js";
import { mutateStream } from "../testing/stream-mutations.js";
import { generateStream } from "../testing/streams.js";
import { createRunAutomaton } from "./automaton.js";
import { ORDER_RULES } from "./rules.js";
import type { Violation } from "./violation.js";

const RUNS = Number(process.env["COUNTERSIGN_FUZZ_RUNS"] ?? 4000);

type Verdict = { passed: AgUiEvent[]; failedAt: number | undefined; rule: string | undefined };

/** Only what the client refuses too counts here; the E rules are the written differences. */
function refusedByClient(violation: Violation): boolean {
  return ORDER_RULES[violation.rule].reference.startsWith("V");
}

function ourVerdict(events: readonly AgUiEvent[]): Verdict {
  const expander = createChunkExpander();
  const automaton = createRunAutomaton();
  const passed: AgUiEvent[] = [];
  for (const [index, event] of events.entries()) {
    try {
      for (const expanded of expander.push(event)) {
        const refusal = automaton.push(expanded, index + 1).find(refusedByClient);
        if (refusal !== undefined) return { passed, failedAt: index, rule: refusal.rule };
        passed.push(expanded);
      }
    } catch (error) {
      if (!isCountersignError(error)) throw error;
      return { passed, failedAt: index, rule: error.code };
    }
  }
  return { passed, failedAt: undefined, rule: undefined };
}

function differs(events: readonly AgUiEvent[]): boolean {
  const official = officialVerdict(events);
  const ours = ourVerdict(events);
  return (
    official.failedAt !== ours.failedAt ||
    JSON.stringify(sorted(official.passed)) !== JSON.stringify(sorted(ours.passed))
  );
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .map(([key, member]) => [key, sorted(member)]),
  );
}

/** The smallest stream, by leaving events out, that still differs. */
function minimise(events: readonly AgUiEvent[]): AgUiEvent[] {
  let smallest = [...events];
  for (let index = smallest.length - 1; index >= 0; index--) {
    const shorter = smallest.toSpliced(index, 1);
    if (differs(shorter)) smallest = shorter;
  }
  return smallest;
}

function compare(events: readonly AgUiEvent[]): number | undefined {
  if (differs(events)) {
    const smallest = minimise(events);
    expect(ourVerdict(smallest), JSON.stringify(smallest)).toEqual(officialVerdict(smallest));
  }
  return ourVerdict(events).failedAt;
}

test("generated streams get the verdict of the official client, at the same event, with the same expansion", () => {
  let accepted = 0;
  for (let seed = 0; seed < RUNS; seed++) {
    if (compare(generateStream(seed).events) === undefined) accepted++;
  }
  // A generator that only makes refused streams would compare little.
  expect(accepted / RUNS).toBeGreaterThan(0.3);
});

test("mutated streams get the verdict of the official client, at the same event", () => {
  let refused = 0;
  for (let seed = 0; seed < RUNS; seed++) {
    if (compare(mutateStream(seed, generateStream(seed).events)) !== undefined) refused++;
  }
  expect(refused / RUNS).toBeGreaterThan(0.2);
});
