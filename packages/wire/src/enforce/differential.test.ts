import * as fc from "fast-check";
import { CompatibilityBoundary, enforceEvents, enforceOutgoingInput } from "@ag-ui/client";
import type { AbstractAgent } from "@ag-ui/client";
import type { BaseEvent, RunAgentInput as OfficialInput } from "@ag-ui/core";
import { of } from "rxjs";
import { expect, test } from "vitest";
import { isCountersignError } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { arbitraryEvent, arbitraryInput, mutateJson } from "../testing/arbitraries.js";
import { enforceEvent, enforceInput } from "./index.js";
import type { EnforceNote } from "./index.js";

const numRuns = Number(process.env["COUNTERSIGN_FUZZ_RUNS"] ?? 6000);
const timeout = 30_000 + numRuns * 10;

type Verdict =
  | { verdict: "accept"; value: JsonValue; removed: string[] }
  | { verdict: "drop" }
  | { verdict: "fatal" };

/** Runs the official code with its warnings collected instead of printed. */
function listening<T>(run: () => T): { result: T; removed: string[] } {
  const { warn } = console;
  const removed: string[] = [];
  console.warn = (message: unknown) => {
    const found = /Removed unrecognised material at '(.*)' (?:on [A-Z_]+|from the outgoing)/s.exec(
      String(message),
    );
    if (found !== null) removed.push(found[1] as string);
  };
  try {
    return { result: run(), removed };
  } finally {
    console.warn = warn;
  }
}

/** Their parser supplies `[]` for absent `tools` and `context`; we leave absent what is absent. */
function withoutDefaults(output: JsonValue, original: JsonValue): JsonValue {
  const value = JSON.parse(JSON.stringify(output)) as JsonObject;
  const given = original as JsonObject;
  for (const key of ["tools", "context"]) if (!Object.hasOwn(given, key)) delete value[key];
  return value;
}

/** Compatibility boundary, then enforcement: the official pipeline up to and including enforcement. */
function official(value: JsonValue): Verdict {
  const { type } = value as JsonObject;
  // Their SSE reader refuses these before enforcement sees them.
  if (typeof type !== "string" || type === "") return { verdict: "fatal" };
  const agent = { run: () => of(structuredClone(value) as unknown as BaseEvent) };
  const { result, removed } = listening(() => {
    const seen: { events: BaseEvent[]; failed: boolean } = { events: [], failed: false };
    new CompatibilityBoundary()
      .run({ messages: [] } as unknown as OfficialInput, agent as unknown as AbstractAgent)
      .pipe(enforceEvents())
      .subscribe({
        next: (event) => seen.events.push(event),
        error: () => {
          seen.failed = true;
        },
      });
    return seen;
  });
  if (result.failed) return { verdict: "fatal" };
  const [event] = result.events;
  if (event === undefined) return { verdict: "drop" };
  const plain = JSON.parse(JSON.stringify(event)) as JsonObject;
  const { input } = value as JsonObject;
  if (plain["input"] !== undefined) {
    plain["input"] = withoutDefaults(plain["input"], input as JsonValue);
  }
  return { verdict: "accept", value: plain, removed };
}

function pathsOf(notes: readonly EnforceNote[]): string[] {
  return notes
    .filter((note) => note.kind !== "nullOmitted")
    .map((note) => note.path.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function refused(error: unknown): Verdict {
  if (isCountersignError(error)) return { verdict: "fatal" };
  throw error;
}

function ours(value: JsonValue): Verdict {
  const before = JSON.stringify(value);
  try {
    const { event, notes } = enforceEvent(value);
    expect(JSON.stringify(value)).toBe(before);
    if (event === undefined) return { verdict: "drop" };
    expect(event === (value as unknown)).toBe(notes.length === 0);
    return { verdict: "accept", value: event as unknown as JsonValue, removed: pathsOf(notes) };
  } catch (error) {
    return refused(error);
  }
}

test(
  "every valid event of every type passes as the same object, without a note",
  () => {
    fc.assert(
      fc.property(arbitraryEvent(), (event) => {
        const result = enforceEvent(event as unknown as JsonValue);
        expect(result.event).toBe(event);
        expect(result.notes).toEqual([]);
      }),
      { numRuns },
    );
  },
  timeout,
);

test(
  "a damaged event gets the verdict, the value and the removals of the official pipeline",
  () => {
    const seen = { accept: 0, drop: 0, fatal: 0 };
    const damaged = arbitraryEvent().chain((event) => mutateJson(event as unknown as JsonValue));
    fc.assert(
      fc.property(damaged, (value) => {
        const verdict = ours(value);
        seen[verdict.verdict]++;
        expect(verdict).toEqual(official(value));
      }),
      { numRuns },
    );
    // A run in which one verdict hardly occurs would compare nothing.
    expect(Math.min(seen.accept, seen.drop, seen.fatal)).toBeGreaterThan(numRuns / 100);
  },
  timeout,
);

/** The official client drops every optional null of what it sends; we answer for what we receive. */
function hasNull(value: JsonValue): boolean {
  return JSON.stringify(value).includes("null");
}

function officialInput(value: JsonValue): Verdict {
  try {
    const { result, removed } = listening(() =>
      enforceOutgoingInput(structuredClone(value) as unknown as OfficialInput),
    );
    const plain = withoutDefaults(result as unknown as JsonValue, value);
    return { verdict: "accept", value: plain, removed };
  } catch {
    return { verdict: "fatal" };
  }
}

function ourInput(value: JsonValue): Verdict {
  try {
    const { input, notes } = enforceInput(value);
    return { verdict: "accept", value: input as unknown as JsonValue, removed: pathsOf(notes) };
  } catch (error) {
    return refused(error);
  }
}

test(
  "a damaged input gets the verdict, the value and the removals of the official filter",
  () => {
    const damaged = arbitraryInput()
      .chain((input) => mutateJson(input as unknown as JsonValue))
      .filter((value) => !hasNull(value));
    fc.assert(
      fc.property(damaged, (value) => {
        expect(ourInput(value)).toEqual(officialInput(value));
      }),
      { numRuns: Math.ceil(numRuns / 3) },
    );
  },
  timeout,
);

test(
  "a valid input passes as the same object",
  () => {
    fc.assert(
      fc.property(arbitraryInput(), (input) => {
        expect(enforceInput(input as unknown as JsonValue).input).toBe(input);
      }),
      { numRuns: Math.ceil(numRuns / 3) },
    );
  },
  timeout,
);
