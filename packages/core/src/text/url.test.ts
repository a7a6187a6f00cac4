import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseUrl } from "./url.js";

test("an address is the same after many calls as in the first one, whatever letters it has", () => {
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
