import { readFileSync } from "node:fs";
import type { JsonSchema } from "@countersign/policy/yaml";
import { expect, test } from "vitest";
import { CONFIG_SCHEMA } from "./schema.js";

function* keysOf(schema: JsonSchema, path: string): Generator<string> {
  const { properties, additionalProperties: each } = schema;
  if (properties !== undefined) {
    for (const [name, inner] of Object.entries(properties)) {
      yield* keysOf(inner, path === "" ? name : `${path}.${name}`);
    }
  } else if (typeof each === "object" && each.properties !== undefined) {
    yield* keysOf(each, `${path}.<name>`);
  } else {
    yield path;
  }
}

test("the configuration page lists every key of countersign.yaml, and no other", () => {
  const page = readFileSync(
    new URL("../../../../docs/reference/configuration.md", import.meta.url),
    "utf8",
  );
  const listed = [...page.matchAll(/^\| `([\w.<>]+)`/gmu)].map(([, key]) => key);
  expect(new Set(listed)).toEqual(new Set(keysOf(CONFIG_SCHEMA, "")));
});
