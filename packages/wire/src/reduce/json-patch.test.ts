import { isCountersignError } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { expect, test } from "vitest";
import type { JsonPatch } from "../model/patch.js";
import { officialPatch } from "../testing/official-patch.js";
import { Random } from "../testing/random.js";
import { randomObject, randomPatch } from "../testing/stream-values.js";
import { applyJsonPatch, DEFAULT_PATCH_LIMITS } from "./json-patch.js";
import { measureJson } from "./json-structure.js";

function patched(document: JsonValue, ...patch: JsonPatch): JsonValue | string {
  const result = applyJsonPatch(document, patch);
  return result.applied ? result.document : `refused: ${result.reason}`;
}

function limitOf(action: () => unknown): unknown {
  try {
    action();
    return undefined;
  } catch (error) {
    return isCountersignError(error, "ERR_PATCH_TOO_LARGE") ? error.facts.limit : error;
  }
}

// The examples of RFC 6902, appendix A, that concern the document.
test.each<[string, JsonValue, JsonPatch, JsonValue | string]>([
  [
    "A.1 adds a member",
    { foo: "bar" },
    [{ op: "add", path: "/baz", value: "qux" }],
    { baz: "qux", foo: "bar" },
  ],
  [
    "A.2 adds an element",
    { foo: ["bar", "baz"] },
    [{ op: "add", path: "/foo/1", value: "qux" }],
    { foo: ["bar", "qux", "baz"] },
  ],
  [
    "A.3 removes a member",
    { baz: "qux", foo: "bar" },
    [{ op: "remove", path: "/baz" }],
    { foo: "bar" },
  ],
  [
    "A.4 removes an element",
    { foo: ["bar", "qux", "baz"] },
    [{ op: "remove", path: "/foo/1" }],
    { foo: ["bar", "baz"] },
  ],
  [
    "A.5 replaces",
    { baz: "qux", foo: "bar" },
    [{ op: "replace", path: "/baz", value: "boo" }],
    { baz: "boo", foo: "bar" },
  ],
  [
    "A.6 moves a value",
    { foo: { bar: "baz", waldo: "fred" }, qux: { corge: "grault" } },
    [{ op: "move", from: "/foo/waldo", path: "/qux/thud" }],
    { foo: { bar: "baz" }, qux: { corge: "grault", thud: "fred" } },
  ],
  [
    "A.7 moves an element",
    { foo: ["all", "grass", "cows", "eat"] },
    [{ op: "move", from: "/foo/1", path: "/foo/3" }],
    { foo: ["all", "cows", "eat", "grass"] },
  ],
  [
    "A.8 tests",
    { baz: "qux", foo: ["a", 2, "c"] },
    [{ op: "test", path: "/foo/1", value: 2 }],
    { baz: "qux", foo: ["a", 2, "c"] },
  ],
  [
    "A.9 fails a test",
    { baz: "qux" },
    [{ op: "test", path: "/baz", value: "bar" }],
    "refused: test-failed",
  ],
  [
    "A.10 adds a nested object",
    { foo: "bar" },
    [{ op: "add", path: "/child", value: { g: {} } }],
    { foo: "bar", child: { g: {} } },
  ],
  [
    "A.12 refuses a missing parent",
    { foo: "bar" },
    [{ op: "add", path: "/baz/bat", value: "qux" }],
    "refused: missing",
  ],
  [
    "A.14 unescapes ~ in order",
    { "/": 9, "~1": 10 },
    [{ op: "test", path: "/~01", value: 10 }],
    { "/": 9, "~1": 10 },
  ],
  [
    "A.15 tells strings from numbers",
    { "/": 9, "~1": 10 },
    [{ op: "test", path: "/~01", value: "10" }],
    "refused: test-failed",
  ],
  [
    "A.16 adds at the end",
    { foo: ["bar"] },
    [{ op: "add", path: "/foo/-", value: ["abc", "def"] }],
    { foo: ["bar", ["abc", "def"]] },
  ],
])("RFC 6902 %s", (_title, document, patch, expected) => {
  expect(patched(document, ...patch)).toEqual(expected);
});

test("a patch applies whole or not at all, and the given document and patch stay as they were", () => {
  const document = { a: { b: 1 }, list: [1] };
  const value = { inner: {} };
  const before = structuredClone(document);
  const result = applyJsonPatch(document, [
    { op: "add", path: "/a/c", value },
    { op: "add", path: "/a/c/inner/x", value: 1 },
    { op: "remove", path: "/list/0" },
    { op: "remove", path: "/absent" },
  ]);
  expect(result).toEqual({ applied: false, operation: 3, reason: "missing" });
  expect(document).toEqual(before);
  expect(value).toEqual({ inner: {} });
});

test("what a patch does not touch keeps its identity", () => {
  const document = { touched: { x: 1 }, kept: { y: 1 } };
  const result = patched(document, { op: "replace", path: "/touched/x", value: 2 }) as JsonObject;
  expect(result["kept"]).toBe(document.kept);
  expect(result["touched"]).not.toBe(document.touched);
});

test("a copy is a copy: a later change of one is not seen in the other", () => {
  const result = patched(
    { a: { n: 1 } },
    { op: "add", path: "/a/m", value: {} },
    { op: "copy", from: "/a", path: "/b" },
    { op: "add", path: "/a/m/x", value: 1 },
    { op: "replace", path: "/b/n", value: 2 },
  );
  expect(result).toEqual({ a: { n: 1, m: { x: 1 } }, b: { n: 2, m: {} } });
});

test("no pointer reaches a prototype", () => {
  for (const path of ["/__proto__/polluted", "/constructor/prototype/polluted", "/a/__proto__"]) {
    expect(patched({ a: {} }, { op: "add", path, value: true })).toBe("refused: prototype");
    expect(patched({ a: {} }, { op: "copy", path: "/b", from: path })).toBe("refused: prototype");
  }
  expect({}).not.toHaveProperty("polluted");
});

test("operations are bounded: the limit applies, one more is refused", () => {
  const limits = { ...DEFAULT_PATCH_LIMITS, maxOperations: 3 };
  const patch = (length: number): JsonPatch =>
    Array.from({ length }, () => ({ op: "add", path: "/n", value: 1 }));
  expect(applyJsonPatch({}, patch(3), limits).applied).toBe(true);
  expect(limitOf(() => applyJsonPatch({}, patch(4), limits))).toBe("maxOperations");
});

test("a document that doubles with every copy is refused at the size limit, whole or drip-fed", () => {
  const double: JsonPatch[number] = { op: "copy", from: "", path: "/-" };
  const patch = Array.from({ length: 64 }, () => double);
  expect(limitOf(() => applyJsonPatch(["seed"], patch))).toBe("maxSize");
  const drip = (): void => {
    let document: JsonValue = ["seed"];
    for (const operation of patch) {
      const result = applyJsonPatch(document, [operation]);
      if (result.applied) document = result.document;
    }
  };
  expect(limitOf(drip)).toBe("maxSize");
});

test("a document at the size limit passes, one character over is refused", () => {
  const limits = { ...DEFAULT_PATCH_LIMITS, maxSize: 8 + 1 + 8 + 10 };
  const add = (value: string): JsonPatch => [{ op: "add", path: "/k", value }];
  expect(applyJsonPatch({}, add("0123456789"), limits).applied).toBe(true);
  expect(limitOf(() => applyJsonPatch({}, add("01234567890"), limits))).toBe("maxSize");
});

test("a short patch cannot buy unbounded copying", () => {
  const document = { big: Array.from({ length: 50_000 }, () => 1) };
  const patch: JsonPatch = Array.from({ length: 2000 }, (_, index) =>
    index % 2 === 0 ? { op: "copy", from: "/big", path: "/x" } : { op: "remove", path: "/x" },
  );
  expect(limitOf(() => applyJsonPatch(document, patch))).toBe("maxWork");
});

test("depth is bounded, whether a value brings it, a path makes it or moves stack it", () => {
  const limits = { ...DEFAULT_PATCH_LIMITS, maxDepth: 3 };
  const add = (path: string, value: JsonValue): JsonPatch => [{ op: "add", path, value }];
  expect(applyJsonPatch({ a: {} }, add("/a/b", {}), limits).applied).toBe(true);
  expect(limitOf(() => applyJsonPatch({ a: {} }, add("/a/b", { c: {} }), limits))).toBe("maxDepth");
  const stack: JsonPatch = Array.from({ length: 100 }, (): JsonPatch => [
    { op: "add", path: "/outer", value: {} },
    { op: "move", from: "/inner", path: "/outer/inner" },
    { op: "move", from: "/outer", path: "/inner" },
  ]).flat();
  expect(limitOf(() => applyJsonPatch({ inner: {} }, stack))).toBe("maxDepth");
});

test("the size that is carried along equals the size measured anew", () => {
  const wrong: unknown[] = [];
  for (let seed = 0; seed < 2000; seed++) {
    const random = new Random(seed);
    const document = randomObject(random, 3);
    const patch = randomPatch(random, document);
    const result = applyJsonPatch(document, patch);
    if (result.applied && result.size !== measureJson(result.document, 64)) {
      wrong.push({ document, patch });
    }
  }
  expect(wrong).toEqual([]);
});

test("generated patches get the result of the official client's library, but for the written differences", () => {
  const kinds = { same: 0, weRefuse: 0, theyRefuse: 0 };
  const unexplained: unknown[] = [];
  for (let seed = 0; seed < 5000; seed++) {
    const random = new Random(seed);
    const document = randomObject(random, 3);
    const patch = randomPatch(random, document);
    const ours = applyJsonPatch(document, patch);
    const theirs = officialPatch(document, patch);
    const transfers = patch.some(({ op }) => op === "move" || op === "copy");
    const scalarRoot = patch.some(({ op, path }) => path === "" && op !== "test");
    if (ours.applied && theirs !== undefined) {
      kinds.same++;
      if (JSON.stringify(sorted(ours.document)) !== JSON.stringify(sorted(theirs.document))) {
        unexplained.push({ document, patch, ours, theirs });
      }
    } else if (ours.applied) {
      kinds.theyRefuse++;
      unexplained.push({ document, patch, ours, theirs });
    } else if (theirs !== undefined) {
      kinds.weRefuse++;
      if (!transfers && !scalarRoot && !usesEmptyIndex(patch)) {
        unexplained.push({ document, patch, ours, theirs });
      }
    }
  }
  expect(unexplained).toEqual([]);
  expect(kinds.same).toBeGreaterThan(2000);
});

function usesEmptyIndex(patch: JsonPatch): boolean {
  return patch.some(({ path }) => path.endsWith("/") || path.includes("//"));
}

function sorted(value: JsonValue | undefined): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.keys(value)
    .toSorted()
    .map((key) => [key, sorted(value[key])]);
}

// Each row is a deliberate difference (docs/wire/differences.md): ours refuses, theirs applies.
test.each<[string, JsonValue, JsonPatch, JsonValue | undefined]>([
  [
    "P1 an empty array index",
    { list: [1] },
    [{ op: "add", path: "/list/", value: 0 }],
    { list: [0, 1] },
  ],
  [
    "P1 a leading zero",
    { list: [1] },
    [{ op: "add", path: "/list/01", value: 0 }],
    { list: [1, 0] },
  ],
  [
    "P1 an index over 32 bits",
    { list: [1] },
    [{ op: "add", path: "/list/4294967296", value: 0 }],
    { list: [0, 1] },
  ],
  [
    "P2 a copy past the end",
    { list: [1] },
    [{ op: "copy", from: "/list/0", path: "/list/9" }],
    { list: [1, 1] },
  ],
  [
    "P2 a move past the end",
    { list: [1, 2] },
    [{ op: "move", from: "/list/0", path: "/list/2" }],
    { list: [2, 1] },
  ],
  [
    "P3 a move into itself",
    { list: [[1], [2]] },
    [{ op: "move", from: "/list/0", path: "/list/0/0" }],
    { list: [[[1], 2]] },
  ],
  ["P4 an inherited name", {}, [{ op: "replace", path: "/toString", value: 1 }], { toString: 1 }],
  [
    "P5 a missing source copied to the root",
    { a: 1 },
    [{ op: "copy", from: "/b", path: "" }],
    undefined,
  ],
  ["P6 a member of a scalar root", 5, [{ op: "add", path: "/a", value: 1 }], 5],
])(
  "difference %s: ours refuses what fast-json-patch applies",
  (_title, document, patch, theirs) => {
    expect(applyJsonPatch(document, patch).applied).toBe(false);
    expect(officialPatch(document, patch)).toEqual({ document: theirs });
  },
);

test("difference P7 a move is judged after its removal: ours applies what fast-json-patch refuses", () => {
  const patch: JsonPatch = [{ op: "move", from: "/list/0", path: "/list/1/x" }];
  expect(patched({ list: ["v", 1, {}] }, ...patch)).toEqual({ list: [1, { x: "v" }] });
  expect(officialPatch({ list: ["v", 1, {}] }, patch)).toBeUndefined();
});
