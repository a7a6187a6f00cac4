import { expect, test } from "vitest";
import { explain, KNOWN, readPage, readResults, render } from "../interop/report.mjs";

test("the tables of docs/compatibility.md are those of the last run of the lab", () => {
  expect(readPage()).toBe(render(readResults()));
});

test("every deviation of the last run has a reason", () => {
  const { cells } = readResults();
  expect(cells.length).toBeGreaterThanOrEqual(160);
  expect(cells.filter((cell) => explain(cell) === undefined)).toEqual([]);
});

test("every reason is one of a deviation that still occurs", () => {
  const used = new Set(readResults().cells.flatMap((cell) => explain(cell) ?? []));
  expect(KNOWN.filter((known) => !used.has(known))).toEqual([]);
});
