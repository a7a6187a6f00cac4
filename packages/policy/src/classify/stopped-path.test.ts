import { expect, test } from "vitest";
import { stoppedPath, toPointer } from "./stopped-path.js";

const holds =
  (needle: string) =>
  (value: unknown): boolean =>
    JSON.stringify(value).includes(needle);

test("the innermost part that is blocked while its siblings are not is named", () => {
  const state = { cart: { total: 1, items: { hidden: "x" } }, theme: "dark" };
  expect(toPointer(stoppedPath(state, holds("total")))).toBe("/cart/total");
  expect(toPointer(stoppedPath(state, holds("hidden")))).toBe("/cart/items/hidden");
});

test("if everything is blocked, the whole is named; a list is one unit", () => {
  expect(stoppedPath({ a: 1, b: 2 }, () => true)).toEqual([]);
  expect(stoppedPath({ a: [1, 2], b: 2 }, holds("1"))).toEqual(["a"]);
});

test("a key that is special in JavaScript is an ordinary key", () => {
  const value = JSON.parse('{"a/~b":{"__proto__":{"x":1},"y":2}}') as never;
  expect(toPointer(stoppedPath(value, holds("x")))).toBe("/a~1~0b/__proto__/x");
});

test("a large value costs no more evaluations than a small one", () => {
  let asked = 0;
  const value = Object.fromEntries(
    Array.from({ length: 1000 }, (_, index) => [`k${index}`, index]),
  );
  expect(
    stoppedPath(value, (part) => {
      asked += 1;
      return holds("k999")(part);
    }),
  ).toEqual([]);
  expect(asked).toBe(64);
});
