import { expect, test } from "vitest";
import { digestOfValue } from "./digest.js";
import { RunState } from "./run-state.js";

const doubling = Array.from({ length: 40 }, (_, index) => ({
  op: "copy" as const,
  from: "",
  path: `/${index}`,
}));

test("a state that grows beyond every bound is followed no further, until it is stated again", () => {
  const state = new RunState({ a: 1 });
  state.see({ type: "STATE_DELTA", delta: doubling });
  state.see({ type: "STATE_DELTA", delta: [{ op: "add", path: "/a", value: 2 }] });
  expect(state.digests(true)).toEqual([]);
  state.see({ type: "STATE_SNAPSHOT", snapshot: { b: 1 } });
  state.see({ type: "STATE_DELTA", delta: [{ op: "add", path: "/c", value: 2 }] });
  expect(state.digests(false)).toEqual([digestOfValue({ b: 1, c: 2 })]);
});

test("of a cut run a bounded number of states is remembered, the newest ones", () => {
  const state = new RunState({});
  for (let count = 1; count <= 100; count += 1) {
    state.see({ type: "STATE_DELTA", delta: [{ op: "add", path: "/count", value: count }] });
  }
  const digests = state.digests(true);
  expect(digests).toHaveLength(32);
  expect(digests.at(-1)).toBe(digestOfValue({ count: 100 }));
  expect(digests).not.toContain(digestOfValue({ count: 68 }));
});

test("no state, an empty one and one that says null leave nothing to remember", () => {
  for (const sent of [undefined, {}, null, []]) {
    expect(new RunState(sent).digests(true)).toEqual([]);
  }
});
