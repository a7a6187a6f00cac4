import * as fc from "fast-check";
import { expect, test } from "vitest";
import { resolveSimplePath, resolveWildcardNodes, resolveWildcardPath } from "./path.js";

const message = {
  a: { b: [{ c: 1 }, { c: 2 }, { d: 3 }], n: null, "x-y": "z" },
  list: [[1, 2], [3]],
};

test.each([
  ["", message],
  ["a.x-y", "z"],
  ["a.n", null],
  ["a.b", message.a.b],
  ["a.b.c", undefined],
  ["a.b.0", undefined],
  ["a.n.x", undefined],
  ["a..b", undefined],
  ["a.b[*]", undefined],
  ["constructor", undefined],
  ["a.toString", undefined],
])("the simple path %j leads to %j", (path, expected) => {
  expect(resolveSimplePath(path, message)).toEqual(expected);
});

test.each([
  ["", [message]],
  ["a.b[*].c", [1, 2]],
  ["a.b[*]", message.a.b],
  ["list[*]", [[1, 2], [3]]],
  ["a[*]", []],
  ["a.n[*]", []],
  ["a.b[0]", []],
  ["missing[*].x", []],
  ["a.n", [null]],
])("the wildcard path %j leads to %j", (path, expected) => {
  expect(resolveWildcardPath(path, message)).toEqual(expected);
});

test("a root that is not an object has only the empty path", () => {
  expect(resolveSimplePath("length", "text")).toBeUndefined();
  expect(resolveWildcardPath("", [1])).toEqual([[1]]);
});

test("each node names the indices that led to it", () => {
  const paths = resolveWildcardNodes("a.b[*].c", message).map((node) => node.path);
  expect(paths).toEqual(["a.b[0].c", "a.b[1].c"]);
});

test("a wildcard path without a wildcard agrees with the simple path", () => {
  const key = fc.constantFrom("a", "b", "c");
  const tree = fc.letrec((tie) => ({
    node: fc.oneof(
      { maxDepth: 4 },
      fc.integer(),
      fc.dictionary(key, tie("node"), { noNullPrototype: true }),
    ),
  })).node;
  fc.assert(
    fc.property(tree, fc.array(key, { maxLength: 4 }), (value, segments) => {
      const path = segments.join(".");
      const simple = resolveSimplePath(path, value as never);
      expect(resolveWildcardPath(path, value as never)).toEqual(
        simple === undefined ? [] : [simple],
      );
    }),
  );
});

test("a path of more than 64 segments leads nowhere", () => {
  let value: object = {};
  for (let depth = 0; depth < 70; depth += 1) value = { a: value };
  const path = (segments: number): string => Array.from({ length: segments }, () => "a").join(".");
  expect(resolveWildcardPath(path(64), value as never)).toHaveLength(1);
  expect(resolveWildcardPath(path(65), value as never)).toEqual([]);
});
