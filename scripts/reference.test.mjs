import { expect, test } from "vitest";
import { createProgram } from "../apps/cli/src/program.ts";
import { referencePages } from "./generate-reference.mjs";
import { read } from "./sources.mjs";

test.each(Object.entries(referencePages(createProgram())))(
  "%s is what the code says (else: npm run build && node scripts/generate-reference.mjs)",
  (path, text) => {
    expect(read(path)).toBe(text);
  },
);
