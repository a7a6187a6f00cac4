import { EVENT_TABLE, EVENT_TYPES } from "@countersign/wire";
import type { Field, ValueSpec } from "@countersign/wire";
import type { JsonObject, JsonValue } from "@countersign/core";
import { isJsonObject } from "@countersign/core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { canHold, EACH, visibleMessages } from "./message-paths.js";

/** Any value that a field may have, with most of its optional members. */
function valueOf(spec: ValueSpec): fc.Arbitrary<JsonValue> {
  switch (spec.kind) {
    case "string":
    case "pointer":
      return fc.string();
    case "boolean":
      return fc.boolean();
    case "integer":
      return fc.integer();
    case "enum":
      return fc.constantFrom(...spec.values);
    case "object":
      return fc.dictionary(
        fc.stringMatching(/^[a-z]{1,4}$/),
        fc.jsonValue({ maxDepth: 2 }),
      ) as fc.Arbitrary<JsonValue>;
    case "json":
      return fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>;
    case "list":
      return fc.array(valueOf(spec.element), { maxLength: 3 });
    case "stringOrList":
      return fc.oneof(fc.string(), fc.array(valueOf(spec.element), { maxLength: 3 }));
    case "shape":
      return objectOf(spec.fields);
    case "union":
      return fc
        .constantFrom(...Object.entries(spec.members))
        .chain(([tag, member]) =>
          objectOf(member.fields).map((object) => ({ ...object, [spec.tag]: tag })),
        );
  }
}

function objectOf(fields: Readonly<Record<string, Field>>): fc.Arbitrary<JsonObject> {
  const members = Object.entries(fields).map(([name, { spec, required }]) => {
    const value = valueOf(spec);
    return [name, required ? value : fc.option(value, { nil: undefined })] as const;
  });
  return fc.record(Object.fromEntries(members)).map((object) => {
    const present = Object.entries(object).filter(([, value]) => value !== undefined);
    return Object.fromEntries(present) as JsonObject;
  });
}

/** Every path that leads somewhere in a value. */
function pathsIn(value: JsonValue): string[][] {
  if (Array.isArray(value)) {
    return [[], ...value.flatMap((item) => pathsIn(item).map((path) => [EACH, ...path]))];
  }
  if (!isJsonObject(value)) return [[]];
  return [
    [],
    ...Object.entries(value).flatMap(([key, child]) =>
      pathsIn(child).map((path) => [key, ...path]),
    ),
  ];
}

test("every path that leads somewhere in a valid event can be held, with and without its surface", () => {
  const event = fc
    .constantFrom(...EVENT_TYPES)
    .chain((type) =>
      objectOf(EVENT_TABLE[type].fields).map((fields): JsonObject => ({ ...fields, type })),
    );
  fc.assert(
    fc.property(event, fc.boolean(), (content, joined) => {
      const surface = String(content["type"]).toLowerCase();
      for (const path of pathsIn(content)) {
        for (const sight of [{ surface }, {}, { surface, direction: "response" }]) {
          const messages = visibleMessages({ ...sight, joined });
          expect([path, messages.some((shapes) => canHold(shapes, path))]).toEqual([path, true]);
        }
      }
    }),
    { numRuns: 200 },
  );
});

test("a member that no described object has can be held nowhere", () => {
  const surface = fc.constantFrom(...EVENT_TYPES.map((type) => type.toLowerCase()), undefined);
  fc.assert(
    fc.property(surface, fc.array(fc.string(), { maxLength: 3 }), (name, rest) => {
      const messages = visibleMessages({ surface: name, joined: true });
      expect(messages.some((shapes) => canHold(shapes, ["noSuchMember", ...rest]))).toBe(false);
    }),
    { numRuns: 200 },
  );
});
