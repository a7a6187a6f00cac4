import type { JsonPatch } from "@countersign/wire";
import { expect, test } from "vitest";
import { digestOfValue } from "./digest.js";
import { RunState } from "./run-state.js";

const doubling = Array.from({ length: 40 }, (_, index) => ({
  op: "copy" as const,
  from: "",
  path: `/${index}`,
}));

test("a state above the size limit is not tracked until the agent sends it whole again", () => {
  const state = new RunState({ a: 1 });
  state.see({ type: "STATE_DELTA", delta: doubling });
  state.see({ type: "STATE_DELTA", delta: [{ op: "add", path: "/a", value: 2 }] });
  expect(state.left(true).digests).toEqual([]);
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
  expect(filled(512 * 1024).left(true).digests).toEqual([]);
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
  expect(followed(...Array.from({ length: 9 }, () => bad))).toEqual([]);
});
