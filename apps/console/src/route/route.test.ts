import * as fc from "fast-check";
import { expect, test } from "vitest";
import { hrefOf, parseRoute } from "./route.js";

test("an address leads back to the place it was made of, whatever its names are", () => {
  const name = fc.string({ minLength: 1, unit: "grapheme" });
  fc.assert(
    fc.property(fc.array(name, { minLength: 1 }), fc.dictionary(name, name), (parts, query) => {
      const route = parseRoute(hrefOf(parts, query));
      expect(route.parts).toEqual(parts);
      expect(new Map(route.query)).toEqual(new Map(Object.entries(query)));
    }),
    { numRuns: 200 },
  );
});

test("no address is the first page, and one that cannot be decoded is taken as it stands", () => {
  for (const hash of ["", "#", "#/"]) expect(parseRoute(hash).parts).toEqual(["overview"]);
  expect(parseRoute("#/receipts/%zz?rule=%zz").parts).toEqual(["receipts", "%zz"]);
  expect(hrefOf(["live"], { rule: "", text: undefined, agent: "a" })).toBe("#/live?agent=a");
});
