import type { JsonValue } from "@countersign/core";
import { expect, test } from "vitest";
import type { JsonPatch } from "../model/event.js";
import { officialPatch } from "../testing/official-patch.js";
import { Random } from "../testing/random.js";
import { randomObject, randomPatch } from "../testing/stream-values.js";
import { applyJsonPatch } from "./json-patch.js";

function patched(document: JsonValue, ...patch: JsonPatch): JsonValue | string {
  const result = applyJsonPatch(document, patch);
  return result.applied ? result.document : `refused: ${result.reason}`;
}

test("generated patches get the result of the official client's library, but for the written differences", () => {
  const kinds = { same: 0, weRefuse: 0, theyRefuse: 0 };
  const unexplained: unknown[] = [];
  for (let seed = 0; seed < 5000; seed++) {
    const random = new Random(seed);
    const document = randomObject(random, 3);
    const patch = randomPatch(random, document);
    const ours = applyJsonPatch(document, patch);
    const theirs = officialPatch(document, patch);
    const transfers = patch.some(({ op }) => op === "move" || op === "copy");
    const scalarRoot = patch.some(({ op, path }) => path === "" && op !== "test");
    if (ours.applied && theirs !== undefined) {
      kinds.same++;
      if (JSON.stringify(sorted(ours.document)) !== JSON.stringify(sorted(theirs.document))) {
        unexplained.push({ document, patch, ours, theirs });
      }
    } else if (ours.applied) {
      kinds.theyRefuse++;
      unexplained.push({ document, patch, ours, theirs });
    } else if (theirs !== undefined) {
      kinds.weRefuse++;
      if (!transfers && !scalarRoot && !usesEmptyIndex(patch)) {
        unexplained.push({ document, patch, ours, theirs });
      }
    }
  }
  expect(unexplained).toEqual([]);
  expect(kinds.same).toBeGreaterThan(2000);
});

function usesEmptyIndex(patch: JsonPatch): boolean {
  return patch.some(({ path }) => path.endsWith("/") || path.includes("//"));
}

function sorted(value: JsonValue | undefined): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.keys(value)
    .toSorted()
    .map((key) => [key, sorted(value[key])]);
}

// Each row is a deliberate difference (docs/wire/differences.md): ours refuses, theirs applies.
test.each<[string, JsonValue, JsonPatch, JsonValue | undefined]>([
  [
    "P1 an empty array index",
    { list: [1] },
    [{ op: "add", path: "/list/", value: 0 }],
    { list: [0, 1] },
  ],
  [
    "P1 a leading zero",
    { list: [1] },
    [{ op: "add", path: "/list/01", value: 0 }],
    { list: [1, 0] },
  ],
  [
    "P1 an index over 32 bits",
    { list: [1] },
    [{ op: "add", path: "/list/4294967296", value: 0 }],
    { list: [0, 1] },
  ],
  [
    "P2 a copy past the end",
    { list: [1] },
    [{ op: "copy", from: "/list/0", path: "/list/9" }],
    { list: [1, 1] },
  ],
  [
    "P2 a move past the end",
    { list: [1, 2] },
    [{ op: "move", from: "/list/0", path: "/list/2" }],
    { list: [2, 1] },
  ],
  [
    "P3 a move into itself",
    { list: [[1], [2]] },
    [{ op: "move", from: "/list/0", path: "/list/0/0" }],
    { list: [[[1], 2]] },
  ],
  ["P4 an inherited name", {}, [{ op: "replace", path: "/toString", value: 1 }], { toString: 1 }],
  [
    "P5 a missing source copied to the root",
    { a: 1 },
    [{ op: "copy", from: "/b", path: "" }],
    undefined,
  ],
  ["P6 a member of a scalar root", 5, [{ op: "add", path: "/a", value: 1 }], 5],
])(
  "difference %s: ours refuses what fast-json-patch applies",
  (_title, document, patch, theirs) => {
    expect(applyJsonPatch(document, patch).applied).toBe(false);
    expect(officialPatch(document, patch)).toEqual({ document: theirs });
  },
);

test("difference P7 a move is judged after its removal: ours applies what fast-json-patch refuses", () => {
  const patch: JsonPatch = [{ op: "move", from: "/list/0", path: "/list/1/x" }];
  expect(patched({ list: ["v", 1, {}] }, ...patch)).toEqual({ list: [1, { x: "v" }] });
  expect(officialPatch({ list: ["v", 1, {}] }, patch)).toBeUndefined();
});
