import { isCountersignError } from "@countersign/core";
import { expect, test } from "vitest";
import { createChunkExpander } from "../chunks/index.js";
import type { AgUiEvent } from "../model/event.js";
import { officialVerdict } from "../testing/official-pipeline.js";
import { mutateStream } from "../testing/stream-mutations.js";
import { generateStream } from "../testing/streams.js";
import { createRunAutomaton } from "./automaton.js";
import { ORDER_RULES } from "./rules.js";
import type { Violation } from "./run-state.js";

// Half of them as generated, half mutated.
const RUNS = Math.ceil(Number(process.env["COUNTERSIGN_FUZZ_RUNS"] ?? 3000) / 2);
const TIMEOUT = 30_000 + RUNS * 20;

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

/** The smallest differing streams among the first few that differ. */
function differences(streams: Iterable<AgUiEvent[]>): unknown[] {
  const found: unknown[] = [];
  for (const events of streams) {
    if (!differs(events)) continue;
    const smallest = minimise(events);
    found.push({
      stream: smallest,
      ours: ourVerdict(smallest),
      official: officialVerdict(smallest),
    });
    if (found.length === 3) break;
  }
  return found;
}

function* streamsOf(kind: "generated" | "mutated"): Iterable<AgUiEvent[]> {
  for (let seed = 0; seed < RUNS; seed++) {
    const { events } = generateStream(seed);
    yield kind === "mutated" ? mutateStream(seed, events) : events;
  }
}

test(
  "generated streams get the verdict of the official client, at the same event, with the same expansion",
  { timeout: TIMEOUT },
  () => {
    expect(differences(streamsOf("generated"))).toEqual([]);
  },
);

test(
  "mutated streams get the verdict of the official client, at the same event",
  { timeout: TIMEOUT },
  () => {
    expect(differences(streamsOf("mutated"))).toEqual([]);
  },
);

test("the generator makes mostly legal streams, and its mutations mostly illegal ones", () => {
  const accepted = { generated: 0, mutated: 0 };
  for (let seed = 0; seed < 500; seed++) {
    const { events } = generateStream(seed);
    if (ourVerdict(events).failedAt === undefined) accepted.generated++;
    if (ourVerdict(mutateStream(seed, events)).failedAt === undefined) accepted.mutated++;
  }
  expect(accepted.generated).toBeGreaterThan(350);
  expect(accepted.mutated).toBeLessThan(250);
});
