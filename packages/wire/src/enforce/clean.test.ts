import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { emitClean } from "../testing/emit-clean.js";

const file = new URL("generated/clean.ts", import.meta.url);

test("the emitted predicates are those of the table", () => {
  if (process.env["COUNTERSIGN_EMIT"] === "1") writeFileSync(file, emitClean());
  expect(readFileSync(file, "utf8")).toBe(emitClean());
});
