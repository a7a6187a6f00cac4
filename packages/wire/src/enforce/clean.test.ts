import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { emitClean } from "../testing/emit-clean.js";

const file = new URL("clean.ts", import.meta.url);

/** The formatter decides about white space, brackets around one-line conditions and trailing commas. */
function tokens(text: string): string {
  return text.replaceAll(/\s+|\/\*\*|\*\/|^ \* /gm, "").replaceAll(/[(){},]/g, "");
}

test("the emitted predicates are those of the table", () => {
  if (process.env["COUNTERSIGN_EMIT"] === "1") writeFileSync(file, emitClean());
  expect(tokens(readFileSync(file, "utf8"))).toBe(tokens(emitClean()));
});
