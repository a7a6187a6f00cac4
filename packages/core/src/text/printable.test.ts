import * as fc from "fast-check";
import { expect, test } from "vitest";
import { printableJson, printableText } from "./printable.js";

const ANY_TEXT = fc.oneof(
  fc.string({ unit: "binary" }),
  // Lone surrogates too.
  fc.array(fc.nat(0xffff)).map((units) => String.fromCharCode(...units)),
  fc.constantFrom(
    "\u001b[2J",
    "\u007f\u009b31m\u0085",
    "\u202eevil\u2066\u2028\u2029",
    "\u200b\ufeff\u00ad\u034f\u061c",
    "\u{e0001}\u{e0041}\u{e007f}\u{e0100}\ufe0f",
    "\u115f\u1160\u3164\uffa0\u2800\u00a0\u3000\u2007",
    "\ue000\u{f0000}\ufdd0\uffff",
  ),
);
/** Letters, marks, numbers, punctuation, symbols and the plain space: visible characters. */
const SEEN = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u;
const HIDDEN = /[\p{Default_Ignorable_Code_Point}\u2800\ufffc]/u;

test("no output contains a terminal control or an invisible character", () => {
  fc.assert(
    fc.property(ANY_TEXT, (text) => {
      const shown = printableText(text);
      expect(shown).toMatch(SEEN);
      expect(shown).not.toMatch(HIDDEN);
    }),
    { numRuns: 2000 },
  );
});

test("every JSON value, keys included, is the same value in a text of printable characters", () => {
  const value = fc.jsonValue({ stringUnit: "binary" });
  fc.assert(
    fc.property(value, fc.dictionary(ANY_TEXT, ANY_TEXT), fc.boolean(), (one, two, isWide) => {
      const json = JSON.stringify([one, two], undefined, isWide ? 2 : undefined);
      const shown = printableJson(json);
      expect(JSON.parse(shown)).toEqual(JSON.parse(json));
      for (const line of shown.split("\n")) {
        expect(line).toMatch(SEEN);
        expect(line).not.toMatch(HIDDEN);
      }
    }),
    { numRuns: 1000 },
  );
});

test("plain text of any language stays unchanged", () => {
  for (const text of ["Grüße, 東京! שלום 🙂 naïve a\u0301 ½ €5", 'a = "b" \\ c/d <e>']) {
    expect(printableText(text)).toBe(text);
  }
});
