import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseUrl } from "./url.js";

test("an address parses the same in the first call and after many, for any letters", () => {
  const text = fc.oneof(fc.webUrl(), fc.string(), fc.constantFrom("http://ä.example/é", "/ü", ""));
  const base = fc.option(fc.constantFrom("https://a.example/x", "http://ö.example/"), {
    nil: undefined,
  });
  fc.assert(
    fc.property(text, base, (address, from) => {
      let expected: string | undefined;
      try {
        expected = new URL(address, from).href;
      } catch {
        expected = undefined;
      }
      expect(parseUrl(address, from)?.href).toBe(expected);
    }),
    { numRuns: 500 },
  );
  for (let count = 0; count < 20_000; count += 1) parseUrl("http://a.example/");
  expect(parseUrl("http://a.example/\u00e9")?.pathname).toBe("/%C3%A9");
});
