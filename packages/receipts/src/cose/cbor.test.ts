import { isCountersignError } from "@countersign/core";
import { decode, encode, rfc8949EncodeOptions } from "cborg";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { CborValue } from "./cbor.js";
import { decodeCbor, encodeCbor } from "./cbor.js";

const key = fc.oneof(fc.maxSafeInteger(), fc.string());
const leaf = fc.oneof(
  fc.maxSafeInteger().map((value) => (value === 0 ? 0 : value)),
  fc.string({ unit: "binary" }),
  fc.uint8Array().map((bytes) => new Uint8Array(bytes)),
  fc.constant(null),
);
const { value } = fc.letrec<{ value: CborValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthIdentifier: "cbor" },
    leaf,
    fc.array(tie("value"), { maxLength: 4, depthIdentifier: "cbor" }),
    fc
      .array(fc.tuple(key, tie("value")), { maxLength: 4, depthIdentifier: "cbor" })
      .map((members) => new Map(members.map(([name, member]) => [name === 0 ? 0 : name, member]))),
  ),
}));
const refuses = (bytes: Uint8Array): boolean => {
  try {
    decodeCbor("a test", bytes, 1024);
    return false;
  } catch (error) {
    return isCountersignError(error, "ERR_COSE_MALFORMED");
  }
};
const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "hex"));

test("deterministic CBOR is the same as that of another library, and comes back", () => {
  fc.assert(
    fc.property(value, (one) => {
      const written = encodeCbor(one);
      expect(Buffer.from(written).equals(encode(one, rfc8949EncodeOptions))).toBe(true);
      expect(decodeCbor("a test", written, 1_000_000)).toEqual(one);
      expect(decode(written, { useMaps: true })).toEqual(one);
    }),
  );
});

test("what is decoded is spelled the only way there is", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 24 }), (bytes) => {
      if (refuses(bytes)) return;
      expect(encodeCbor(decodeCbor("a test", bytes, 1024))).toEqual(Uint8Array.from(bytes));
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ["a longer head than needed", "1817"],
  ["a length in two bytes that fits into one", "590001aa"],
  ["an indefinite length", "5f41aaff"],
  ["an indefinite list", "9f01ff"],
  ["map keys out of order", "a203040102"],
  ["a duplicate map key", "a201020103"],
  ["a map key that is no label", "a1f601"],
  ["a float", "f93c00"],
  ["true", "f5"],
  ["undefined", "f7"],
  ["a date", "c11a65000000"],
  ["a big number", "c249010000000000000000"],
  ["a number above 2^53", "1b0020000000000000"],
  ["an unknown tag", "d9d9f701"],
  ["a text that is no UTF-8", "62c328"],
  ["nothing", ""],
  ["bytes after the item", "0101"],
  ["a cut item", "82"],
  ["a list of 2^31 items", "9a7fffffff"],
  ["a byte string of 2^63 bytes", "5b7fffffffffffffff"],
  ["a map of 2^63 members", "bb7fffffffffffffff"],
  ["nine lists in each other", "81".repeat(9) + "01"],
  ["1,023 lists in each other", "81".repeat(1023) + "01"],
])("%s is refused", (_, text) => {
  expect(refuses(hex(text))).toBe(true);
});

test("an item above its limit is refused before it is read", () => {
  expect(refuses(encodeCbor(new Uint8Array(1024)))).toBe(true);
});
