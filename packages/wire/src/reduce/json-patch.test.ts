import { isCountersignError } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { expect, test } from "vitest";
import type { JsonPatch } from "../model/event.js";
import { Random } from "../testing/random.js";
import { randomObject, randomPatch } from "../testing/stream-values.js";
import { applyJsonPatch, DEFAULT_PATCH_LIMITS, PatchedDocument } from "./json-patch.js";
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

test.each<[string, JsonPatch]>([
  [
    "a large value copied and removed",
    [
      { op: "copy", from: "/big", path: "/x" },
      { op: "remove", path: "/x" },
    ],
  ],
  ["a long list shortened at its front", [{ op: "remove", path: "/big/0" }]],
  ["a long list grown at its front", [{ op: "add", path: "/big/0", value: 1 }]],
  [
    "a long list shared, and so copied before each change",
    [
      { op: "copy", from: "/big", path: "/x" },
      { op: "replace", path: "/big/0", value: 1 },
    ],
  ],
])("a short patch cannot buy unbounded work: %s", (_attack, operations) => {
  const document = { small: 1, big: Array.from({ length: 1000 }, () => 1) };
  const limits = { ...DEFAULT_PATCH_LIMITS, maxWork: 10_000 };
  const patch = Array.from({ length: 300 }, () => operations).flat();
  expect(applyJsonPatch(document, operations, limits).applied).toBe(true);
  expect(limitOf(() => applyJsonPatch(document, patch, limits))).toBe("maxWork");
});

test("a value that moves is measured once where it moves down, and not at all elsewhere", () => {
  const list = Array.from({ length: 1000 }, (_, at) => at);
  const limits = (maxWork: number) => ({ ...DEFAULT_PATCH_LIMITS, maxWork });
  const move = (from: string, path: string): JsonPatch => [{ op: "move", from, path }];
  const applied = (patch: JsonPatch, maxWork: number) =>
    applyJsonPatch({ a: list, x: {} }, patch, limits(maxWork)).applied;
  expect(applied(move("/a", "/b"), 10)).toBe(true);
  expect(applied([...move("/a", "/b"), ...move("/b", "/a")], 10)).toBe(true);
  expect(applied(move("/a", "/x/a"), 1010)).toBe(true);
  expect(limitOf(() => applied(move("/a", "/x/a"), 1000))).toBe("maxWork");
});

test("the measure of a value ends where its work is spent", () => {
  let values = 0;
  const visit = (): void => {
    values += 1;
    if (values > 10) throw new RangeError("enough");
  };
  expect(() =>
    measureJson(
      Array.from({ length: 1000 }, () => [1]),
      64,
      visit,
    ),
  ).toThrow(RangeError);
  expect(values).toBe(11);
});

test("the whole document is replaced, removed and added under the empty path", () => {
  const value = { b: [2] };
  expect(patched({ a: 1 }, { op: "replace", path: "", value })).toEqual(value);
  expect(patched({ a: 1 }, { op: "add", path: "", value })).toEqual(value);
  expect(patched({ a: 1 }, { op: "remove", path: "" })).toBeNull();
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

test("a document that follows patches in place is what applying each of them anew would give", () => {
  let refused = 0;
  for (let seed = 0; seed < 2000; seed++) {
    const random = new Random(seed);
    let expected: JsonValue = randomObject(random, 3);
    const handedIn: JsonValue[] = [expected];
    const before = [JSON.stringify(expected)];
    const followed = new PatchedDocument(expected);
    for (let round = 0; round < 6; round++) {
      const patch = randomPatch(random, expected as JsonObject);
      before.push(JSON.stringify(patch));
      handedIn.push(patch as unknown as JsonValue);
      const result = applyJsonPatch(expected, patch);
      const wouldBe = followed.refusalOf(patch);
      expect(followed.value, `seed ${seed}`).toEqual(expected);
      const reason = followed.apply(patch);
      expect(reason).toBe(result.applied ? undefined : result.reason);
      expect(wouldBe).toBe(reason);
      if (result.applied) expected = result.document;
      else refused++;
      expect(followed.value, `seed ${seed}`).toEqual(expected);
    }
    expect(handedIn.map((value) => JSON.stringify(value))).toEqual(before);
  }
  expect(refused).toBeGreaterThan(100);
});

test("a document copies a large container once, however many patches reach it", () => {
  const large = Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`k${at}`, at]));
  const followed = new PatchedDocument(large);
  expect(followed.apply([{ op: "replace", path: "/k0", value: 1 }])).toBeUndefined();
  const copy = followed.value;
  expect(copy).not.toBe(large);
  expect(followed.apply([{ op: "copy", path: "/k1", from: "/k0" }])).toBeUndefined();
  expect(followed.apply([{ op: "remove", path: "/k0" }])).toBeUndefined();
  expect(followed.value).toBe(copy);
  expect(large["k0"]).toBe(0);
});
