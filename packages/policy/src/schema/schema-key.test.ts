import type { JsonObject } from "@countersign/core";
import { expect, test } from "vitest";
import { readPolicy } from "../document/load.js";
import { stringify } from "yaml";
import { findPolicyKey } from "./policy-key.js";
import { AG_UI_BLOCKS, POLICY_SCHEMA } from "./policy-schema.js";
import { schemaKeys } from "./schema-key.js";

const KEYS = schemaKeys(POLICY_SCHEMA).filter(
  (key) => !key.startsWith("rules") && Object.hasOwn(AG_UI_BLOCKS, key.split(".")[0] as string),
);

test("every key of the grammar has a meaning and an example that loads", () => {
  expect(KEYS.length).toBeGreaterThan(150);
  const failed = KEYS.flatMap((key) => {
    const found = findPolicyKey(key);
    const { issues } = readPolicy(stringify(found?.example as JsonObject));
    return found?.description === undefined || issues.length > 0
      ? [`${key}: ${JSON.stringify(found?.example)} ${issues[0]?.message}`]
      : [];
  });
  expect(failed).toEqual([]);
});

test("a path that the grammar does not have is nothing", () => {
  for (const path of ["", ".", "ag_ui.", "ag_ui.constructor", "ag_ui_content.images.x", "a.b"]) {
    expect([path, findPolicyKey(path)]).toEqual([path, undefined]);
  }
});
