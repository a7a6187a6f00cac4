import * as fc from "fast-check";
import type { JsonObject, JsonValue } from "@countersign/core";

/** Text without lone surrogates, so that it survives UTF-8 and strict JSON. */
export const arbitraryText: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: "grapheme-ascii", maxLength: 12 }) },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 8 }) },
  { weight: 1, arbitrary: fc.constantFrom("", "\n", "null", "data: x", "\u2028", "é", "🙂") },
);

/** An opaque id from a small pool, so that events of one stream refer to each other. */
export const arbitraryId: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("a", "b", "c", "d") },
  { weight: 1, arbitrary: fc.constantFrom("", "toString", "__proto__", "constructor") },
  { weight: 1, arbitrary: arbitraryText },
);

const arbitraryNumber: fc.Arbitrary<number> = fc.oneof(
  fc.maxSafeInteger(),
  fc.integer({ min: -3, max: 300 }),
  // Strict JSON refuses integers beyond 2^53, and canonical JSON has no negative zero.
  fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((value) => value + 0 || 0),
);

const arbitraryKey: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("a", "b", "type", "role", "nested", "toString") },
  { weight: 1, arbitrary: arbitraryText.filter((key) => key !== "__proto__") },
);

const tree = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "small", withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    arbitraryNumber,
    arbitraryText,
    fc.array(tie("value"), { maxLength: 3 }),
    tie("object"),
  ),
  object: fc.dictionary(arbitraryKey, tie("value"), { maxKeys: 3, noNullPrototype: true }),
}));

/** Any JSON value of small depth. */
export const arbitraryJson: fc.Arbitrary<JsonValue> = tree.value;

/** Any JSON object of small depth. */
export const arbitraryJsonObject: fc.Arbitrary<JsonObject> = tree.object;

/** Any JSON value but null, for optional fields where a whole null is forbidden. */
export const arbitraryPresent: fc.Arbitrary<JsonValue> = tree.value.filter(
  (value) => value !== null,
);

/** An RFC 6901 pointer. */
export const arbitraryPointer: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom("a", "b", "0", "-", "~0", "~1", ""),
      fc.stringMatching(/^[a-z ]{0,4}$/),
    ),
    {
      maxLength: 4,
    },
  )
  .map((tokens) => tokens.map((token) => `/${token}`).join(""));

/** Members that 1.1 adds; the packages that are our oracles implement 1.0 and remove them. */
type Newer = "encryptedValueType";

/** An object with some fields required and the rest present at random. */
export function record<T extends object>(
  required: { [Key in keyof T as undefined extends T[Key] ? never : Key]: fc.Arbitrary<T[Key]> },
  optional: {
    [Key in Exclude<keyof T, Newer> as undefined extends T[Key] ? Key : never]-?: fc.Arbitrary<
      Exclude<T[Key], undefined>
    >;
  },
): fc.Arbitrary<T> {
  const model = { ...required, ...optional } as Record<string, fc.Arbitrary<unknown>>;
  return fc.record(model, {
    requiredKeys: Object.keys(required),
    noNullPrototype: true,
  }) as unknown as fc.Arbitrary<T>;
}
