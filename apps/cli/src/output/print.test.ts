import { expect, test } from "vitest";
import { plainJson } from "./print.js";

test("JSON for a terminal holds nothing that it would obey, and says the same", () => {
  const value = { "a\u009b2J": "\u202eevil\u2066\u{e0041}\u007f\u2028 ä 😀" };
  const text = plainJson(JSON.stringify(value));
  expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  expect(text).toContain("ä 😀");
  expect(JSON.parse(text)).toEqual(value);
});
