import type { AgUiEvent, JsonPatch, RunAgentInput } from "@countersign/wire";
import { applyJsonPatch } from "@countersign/wire/reduce";
import type { JsonValue } from "@countersign/core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { StoredRow } from "../store/keyed-store.js";
import { digestOfValue } from "./digest.js";
import { RunState } from "./run-state.js";
import { RunTrace } from "./run-trace.js";
import { stateAtStart, UNKNOWN_SHARED_STATE } from "./shared-state.js";
import { stateOf } from "./thread-state.js";

const doubling = Array.from({ length: 40 }, (_, index) => ({
  op: "copy" as const,
  from: "",
  path: `/${index}`,
}));

test("a state above the size limit is not tracked until the agent sends it whole again", () => {
  const state = new RunState({ a: 1 });
  state.see({ type: "STATE_DELTA", delta: doubling });
  state.see({ type: "STATE_DELTA", delta: [{ op: "add", path: "/a", value: 2 }] });
  expect(state.left(true)).toBe(UNKNOWN_SHARED_STATE);
  state.see({ type: "STATE_SNAPSHOT", snapshot: { b: 1 } });
  state.see({ type: "STATE_DELTA", delta: [{ op: "add", path: "/c", value: 2 }] });
  expect(state.left(false).digests).toEqual([digestOfValue({ b: 1, c: 2 })]);
});

test("a cut run keeps a bounded number of states, the newest ones", () => {
  const state = new RunState({});
  for (let count = 1; count <= 100; count += 1) {
    state.see({ type: "STATE_DELTA", delta: [{ op: "add", path: "/count", value: count }] });
  }
  const digests = state.left(true).digests;
  expect(digests).toHaveLength(32);
  expect(digests.at(-1)).toBe(digestOfValue({ count: 100 }));
  expect(digests).not.toContain(digestOfValue({ count: 68 }));
});

test("no state, an empty one and null leave nothing to remember", () => {
  for (const sent of [undefined, {}, null, []]) {
    expect(new RunState(sent).left(true).digests).toEqual([]);
  }
});

test("ten thousand small changes of a state with ten thousand keys cost a few copies of it", () => {
  const snapshot = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`k${at}`, at]));
  const state = new RunState({});
  state.see({ type: "STATE_SNAPSHOT", snapshot });
  for (let count = 0; count < 10_000; count += 1) {
    state.see({ type: "STATE_DELTA", delta: [{ op: "replace", path: "/k1", value: count }] });
  }
  expect(state.left(false).digests).toEqual([digestOfValue({ ...snapshot, k1: 9999 })]);
});

test("fewer versions of a large state are kept, and none of one above its limit", () => {
  const filled = (length: number): RunState => {
    const state = new RunState({});
    for (let count = 0; count < 50; count += 1) {
      state.see({ type: "STATE_SNAPSHOT", snapshot: { count, text: "x".repeat(length) } });
    }
    return state;
  };
  expect(filled(1000).left(true).digests).toHaveLength(32);
  const few = filled(100_000).left(true).digests;
  expect(few.length).toBeLessThan(11);
  expect(few.at(-1)).toBe(digestOfValue({ count: 49, text: "x".repeat(100_000) }));
  expect(filled(512 * 1024).left(true)).toBe(UNKNOWN_SHARED_STATE);
});

test("changes that do not apply are skipped in any position, and too many of them end the tracking", () => {
  const good = (value: number): JsonPatch => [{ op: "add", path: "/a", value }];
  const bad: JsonPatch = [
    { op: "add", path: "/b", value: 1 },
    { op: "remove", path: "/nowhere" },
  ];
  const followed = (...deltas: JsonPatch[]): readonly string[] => {
    const state = new RunState({ a: 0 });
    for (const delta of deltas) state.see({ type: "STATE_DELTA", delta });
    return state.left(false).digests;
  };
  expect(followed(bad, good(1), bad, bad, good(2), bad)).toEqual([digestOfValue({ a: 2 })]);
  expect(followed(...Array.from({ length: 9 }, () => bad))).toBe(UNKNOWN_SHARED_STATE.digests);
});

const stateEvent = fc.constantFrom<AgUiEvent>(
  { type: "STATE_SNAPSHOT", snapshot: { a: 1, b: { c: 2 } } },
  { type: "STATE_SNAPSHOT", snapshot: {} },
  { type: "STATE_SNAPSHOT", snapshot: { text: "x".repeat(512 * 1024) } },
  { type: "STATE_DELTA", delta: [{ op: "add", path: "/a", value: 2 }] },
  { type: "STATE_DELTA", delta: [{ op: "remove", path: "/a" }] },
);
const stateRun = fc.record({
  sends: fc.constantFrom("its state", "a new state", "an empty state", "nothing"),
  events: fc.array(stateEvent, { maxLength: 3 }),
  end: fc.constantFrom("finished", "cut", "killed"),
});

test("a client that holds a state and sends none is never taken for one without a state, after any runs", () => {
  fc.assert(
    fc.property(fc.array(stateRun, { maxLength: 5 }), (runs) => {
      let held: JsonValue = {};
      const rows = new Map<string, StoredRow>();
      for (const [at, { sends, events, end }] of runs.entries()) {
        if (sends === "a new state") held = { own: at };
        const isSent = sends === "its state" || sends === "a new state";
        const sent = isSent ? held : sends === "nothing" ? undefined : {};
        const ids = { threadId: "t", runId: `r${at}` };
        const input = { ...ids, messages: [], state: sent } as unknown as RunAgentInput;
        const trace = new RunTrace(input, stateOf([...rows.values()]));
        const write = (all: readonly StoredRow[] = []): void => {
          for (const row of all) rows.set(`${row.kind} ${row.id}`, row);
        };
        for (const event of [{ type: "RUN_STARTED", ...ids } as AgUiEvent, ...events]) {
          trace.see(event);
          write(trace.take()?.rows);
          held = heldAfter(held, event);
        }
        if (end === "cut") write(trace.cut().rows);
        if (end === "finished") {
          trace.see({ type: "RUN_FINISHED", ...ids } as AgUiEvent);
          write(trace.take()?.rows);
        }
        const { shared } = stateOf([...rows.values()]);
        const isKnown = [undefined, {}].some((none) => stateAtStart(none, shared) !== undefined);
        expect(isKnown && Object.keys(held as object).length > 0).toBe(false);
      }
    }),
    { numRuns: 300 },
  );
});

/** The state of a client after an event, as the official client applies it. */
function heldAfter(held: JsonValue, event: AgUiEvent): JsonValue {
  if (event.type === "STATE_SNAPSHOT") return event.snapshot;
  if (event.type !== "STATE_DELTA") return held;
  const result = applyJsonPatch(held, event.delta);
  return result.applied ? result.document : held;
}
