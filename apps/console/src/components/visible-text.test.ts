import * as fc from "fast-check";
import { expect, test } from "vitest";
import { visibleParts, visibleText } from "./visible-text.js";

test("what hides or reorders is shown by its number, everything else as it is", () => {
  expect(visibleText("plain <b>Grüße 你好 שלום 🙂</b>")).toBe("plain <b>Grüße 你好 שלום 🙂</b>");
  expect(visibleText("a\u202Eb\u200Bc\u00A0d\u0000e\nf\u{E0041}g\uD800h")).toBe(
    "a\\u{202e}b\\u{200b}c\\u{a0}d\\u{0}e\\u{a}f\\u{e0041}g\\u{d800}h",
  );
  expect(visibleParts("a\u00ADb")).toEqual([
    { text: "a", isEscape: false },
    { text: "\\u{ad}", isEscape: true },
    { text: "b", isEscape: false },
  ]);
});

test("nothing unseen is left, and nothing seen is lost", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const shown = visibleText(text);
      expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u);
      const seen = visibleParts(text).filter((part) => !part.isEscape);
      let at = 0;
      for (const part of seen) {
        at = text.indexOf(part.text, at);
        expect(at).toBeGreaterThanOrEqual(0);
        at += part.text.length;
      }
    }),
    { numRuns: 200 },
  );
});
