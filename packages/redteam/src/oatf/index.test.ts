import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import * as oatf from "./index.js";

const ENTRY_POINTS = [
  ["parse", "validate", "normalize", "serialize", "load"],
  ["resolveSimplePath", "resolveWildcardPath", "parseDuration", "evaluateCondition"],
  ["evaluatePredicate", "interpolateTemplate", "interpolateValue", "evaluateExtractor"],
  ["selectResponse", "evaluateTrigger", "computeEffectiveState", "extractProtocol"],
  ["evaluatePattern", "evaluateExpression", "evaluateSemantic", "evaluateIndicator"],
  ["computeVerdict", "knownModes", "knownProtocols", "resolvedMode"],
].flat();

test("every entry point of an OATF SDK is there", () => {
  const names = new Map<string, unknown>(Object.entries(oatf));
  expect(ENTRY_POINTS.filter((name) => typeof names.get(name) !== "function")).toEqual([]);
});

test("the document model runs anywhere: no file of it imports a module of Node", () => {
  const root = dirname(fileURLToPath(import.meta.url));
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
    (path) => path.endsWith(".ts") && !path.endsWith(".test.ts") && !path.startsWith("testing"),
  );
  expect(files.length).toBeGreaterThan(50);
  const guilty = files.filter((path) => /from "node:/.test(readFileSync(join(root, path), "utf8")));
  expect(guilty).toEqual([]);
});
