import { canonicalJson } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  MAX_DIGESTS,
  MAX_KEYS,
  NO_SHARED_STATE,
  sharedStateOf,
  writtenKeys,
} from "./shared-state.js";

const never = (): boolean => false;
const written = (sent: JsonValue, ...held: JsonValue[]): readonly string[] | undefined =>
  writtenKeys(sent, sharedStateOf(held), never);

test("a client that changes its own key and repeats the others wrote one key", () => {
  const held = { cart: ["tea"], total: 3, ui: 1 };
  expect(written(held, held)).toEqual([]);
  expect(written({ ...held, ui: 2 }, held)).toEqual(["ui"]);
  expect(written({ ...held, more: 1 }, held)).toEqual(["more"]);
  expect(written({ ui: 2, total: 3, cart: ["tea"] }, held)).toEqual(["ui"]);
});

test("a state that lacks a key, is not an object or has none of the values is new as a whole", () => {
  const held = { cart: ["tea"], total: 3 };
  expect(written({ cart: ["tea"] }, held)).toBeUndefined();
  expect(written({ cart: [], total: 4 }, held)).toBeUndefined();
  expect(written(["tea"], held)).toBeUndefined();
  expect(writtenKeys(held, NO_SHARED_STATE, never)).toBeUndefined();
  // A row of an older gateway has only digests of whole states.
  const { digests } = sharedStateOf([held]);
  expect(writtenKeys({ ...held, ui: 1 }, { digests }, never)).toBeUndefined();
  expect(writtenKeys(held, { digests }, never)).toEqual([]);
});

test("values from two moments echo neither state", () => {
  const held = [
    { price: 1, paid: false, ui: 0 },
    { price: 9, paid: true, ui: 0 },
  ];
  expect(written({ price: 1, paid: true, ui: 0 }, ...held)).toHaveLength(1);
  const isOwn = (key: string): boolean => key === "ui" || key === "paid";
  const chosen = writtenKeys({ price: 1, paid: true, ui: 5 }, sharedStateOf(held), isOwn);
  expect(chosen).toEqual(["paid", "ui"]);
});

test("property names of Object.prototype are ordinary keys", () => {
  const held = JSON.parse('{"__proto__": 1, "constructor": 2}') as JsonObject;
  const sent = JSON.parse('{"__proto__": 3, "constructor": 2}') as JsonObject;
  expect(written(sent, held)).toEqual(["__proto__"]);
});

const filled = (count: number, value: JsonValue): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value]));

test("above the limit of keys only the whole state is known, and the keys that are hashed are bounded too", () => {
  expect(sharedStateOf([filled(MAX_KEYS, 1)]).keyed).toHaveLength(1);
  expect(sharedStateOf([filled(MAX_KEYS + 1, 1)]).keyed).toBeUndefined();
  const held = sharedStateOf([{ a: 1 }]);
  expect(writtenKeys({ ...filled(2 * MAX_KEYS - 1, 2), a: 1 }, held, never)).toHaveLength(
    2 * MAX_KEYS - 1,
  );
  expect(writtenKeys({ ...filled(2 * MAX_KEYS, 2), a: 1 }, held, never)).toBeUndefined();
});

test("a row holds a bounded number of digests, those of the newest states", () => {
  const versions = Array.from({ length: 32 }, (_, at): JsonObject =>
    Object.fromEntries(Array.from({ length: 40 }, (_, key) => [`k${key}`, at * 100 + key])),
  );
  const shared = sharedStateOf(versions);
  expect(shared.digests).toHaveLength(32);
  expect(shared.table?.length).toBeLessThanOrEqual(MAX_DIGESTS);
  expect(JSON.stringify(shared).length).toBeLessThan(32 * 1024);
  const newest = versions.at(-1) as JsonObject;
  expect(writtenKeys({ ...newest, k0: "x" }, shared, never)).toEqual(["k0"]);
  expect(writtenKeys({ ...versions[0], k0: "x" }, shared, never)).toBeUndefined();
  expect(writtenKeys(versions[0], shared, never)).toEqual([]);
});

const key: fc.Arbitrary<string> = fc.constantFrom("a", "b", "c", "d", "__proto__");
const value = fc.oneof(fc.integer({ max: 2, min: 0 }), fc.constantFrom("", "x", null, [], [1]));
const state = fc
  .array(fc.tuple(key, value), { maxLength: 5 })
  .map((entries) => Object.fromEntries(entries) as JsonObject);

test("keys that do not count as written had their values at one moment, with none left out", () => {
  fc.assert(
    fc.property(fc.array(state, { maxLength: 4 }), state, fc.array(key), (held, sent, own) => {
      const keys = writtenKeys(sent, sharedStateOf(held), (one) => own.includes(one));
      const isOf = (one: JsonObject): boolean =>
        Object.keys(one).every((name) => Object.hasOwn(sent, name)) &&
        Object.keys(sent).every(
          (name) =>
            keys?.includes(name) === true ||
            (Object.hasOwn(one, name) && JSON.stringify(one[name]) === JSON.stringify(sent[name])),
        );
      expect(keys === undefined || held.some(isOf)).toBe(true);
      // A client that sends back exactly the state it has needs no token.
      const isEcho = held.some((one) => canonicalJson(one) === canonicalJson(sent));
      expect(!isEcho || keys?.length === 0).toBe(true);
    }),
  );
});
