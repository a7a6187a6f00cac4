import * as fc from "fast-check";
import { expect, test } from "vitest";
import { settingsOf } from "./testing/settings-of.js";
import { readOrdinaryTexts } from "./testing/ordinary-texts.js";
import type { ContentSettings } from "./settings.js";
import { TextScanner } from "./text-scanner.js";
import { whyActive } from "./testing/active.js";
import { COUNTEREXAMPLES, COUNTEREXAMPLES_BY_EVENT } from "./testing/counterexamples.js";
import { GENERATED_ADDRESSES } from "./testing/generated-addresses.js";
import { GENERATED_TEXTS } from "./testing/generated-texts.js";
import { RENDERERS } from "./testing/renderers.js";

/** How many times as many texts are generated; `COUNTERSIGN_ORACLE_RUNS=50` takes minutes. */
const TIMES = Number(process.env["COUNTERSIGN_ORACLE_RUNS"] ?? 1);
const RUNS = 40 * TIMES;
/** Texts with an address are short, and most are found at once. */
const ADDRESS_RUNS = 1000 * TIMES;
const LONGEST_TEST = 300_000 * TIMES;
const IMAGE_HOST = "img.example";
/** Characters with which a renderer may change its mind about what stands before them. */
const TURNS = /[>)\]\n`]/;

/** A beginning of the text that some renderer makes active although nothing was found in it yet. */
function missed(
  text: string,
  cuts: readonly number[],
  changes: Partial<ContentSettings> = {},
): string | undefined {
  const scanner = new TextScanner(settingsOf(changes));
  const [imageHost] = changes.imageHosts ?? [];
  let from = 0;
  for (const end of cuts) {
    if (scanner.push(text.slice(from, end)) !== undefined) return undefined;
    from = end;
    const isLast = end === text.length;
    if (!isLast && cuts.length > 8 && !TURNS.test(text.charAt(end - 1))) continue;
    const why = whyShown(text.slice(0, end), imageHost);
    if (why !== undefined) return why;
  }
  return undefined;
}

/** Why some renderer makes something active of a text, or of the text without the white space at its beginning. */
function whyShown(text: string, imageHost?: string): string | undefined {
  for (const shown of new Set([text, text.trimStart()])) {
    for (const [name, render] of RENDERERS) {
      const why = whyActive(render(shown), imageHost);
      if (why !== undefined) return `${name}: ${why}: ${JSON.stringify(text)}`;
    }
  }
  return undefined;
}

const everyEnd = (text: string): number[] => Array.from(text, (_, index) => index + 1);

test.each(GENERATED_TEXTS)(
  "no beginning of a generated text (%s) is active to a renderer before it is found",
  (_, texts) => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(missed(text, everyEnd(text))).toBeUndefined();
      }),
      { numRuns: RUNS },
    );
  },
  LONGEST_TEST,
);

test.each(GENERATED_TEXTS)(
  "shown event by event, no text (%s) is active to a renderer at the end of an event before it is found",
  (_, texts) => {
    fc.assert(
      fc.property(texts, fc.array(fc.nat(80), { maxLength: 4 }), (text, places) => {
        const inner = places.filter((place) => place > 0 && place < text.length);
        const cuts = [...new Set([...inner, text.length])].toSorted((a, b) => a - b);
        expect(missed(text, cuts, { isByEvent: true })).toBeUndefined();
      }),
      { numRuns: RUNS },
    );
  },
  LONGEST_TEST,
);

test.each([[[]], [[IMAGE_HOST]]])(
  "no beginning of a text with an address in disguise loads, runs or misleads before it is found (image_hosts %j)",
  (imageHosts) => {
    fc.assert(
      fc.property(GENERATED_ADDRESSES, (text) => {
        expect(missed(text, everyEnd(text), { imageHosts })).toBeUndefined();
      }),
      { numRuns: ADDRESS_RUNS },
    );
  },
  LONGEST_TEST,
);

test.each(COUNTEREXAMPLES)("%s: %j, which passed once, is found, and in time", (kind, text) => {
  expect(missed(text, everyEnd(text))).toBeUndefined();
  expect(new TextScanner(settingsOf()).push(text)?.kind).toBe(kind);
});

/** White space that `trim` removes: many pages trim a message before they render it. */
const TRIMMED = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter(
  (character) => character.trim() === "",
);

test.each(COUNTEREXAMPLES)("%s: %j is found behind any white space that pages trim", (_, text) => {
  for (const space of TRIMMED) {
    const found = new TextScanner(settingsOf({ hidden: false })).push(space + text);
    expect([space.codePointAt(0), found?.kind]).toEqual([expect.anything(), expect.any(String)]);
  }
});

test.each(COUNTEREXAMPLES_BY_EVENT)(
  "%s: %j, which passed once where a page shows no less than an event, is found",
  (kind, text) => {
    expect(missed(text, [text.length], { isByEvent: true })).toBeUndefined();
    expect(new TextScanner(settingsOf({ isByEvent: true })).push(text)?.kind).toBe(kind);
  },
);

/** Generated once: every test of the generator reads the same texts. */
let sampled: readonly string[] | undefined;
const sampleAddresses = (): readonly string[] =>
  (sampled ??= fc.sample(GENERATED_ADDRESSES, { numRuns: 20_000, seed: 1 }));

test.each([
  ["a reference without a semicolon in an image", /!\[a\]\(<?&#x?[\da-f]+(?![\da-f;])/i, "host"],
  ["a reference of more than 64 characters", /&#x?0{64}/i, ""],
  ["a reference in a definition", /\[a\]: &/, ""],
  ["a name before the host in a definition", /\]: .*bank\.example.{0,4}@/, "user"],
  ["a name before the host in text", /^.{0,8}bank\.example[^\w/]{1,3}@/, "user"],
  ["a name before the host behind a decoded scheme", /^.?h?t?t?p?s?&#.*example.*@/i, "user"],
])(
  "the generator writes %s that is active to a renderer",
  (_, form, why) => {
    const isActive = (text: string): boolean => whyShown(text)?.includes(why) === true;
    expect(sampleAddresses().some((text) => form.test(text) && isActive(text))).toBe(true);
  },
  LONGEST_TEST,
);

test("many of the generated texts with fences hold an attack that passes as code", () => {
  for (const [name, texts] of GENERATED_TEXTS) {
    if (!name.startsWith("fences")) continue;
    const passed = fc.sample(texts, { numRuns: 500, seed: 1 }).filter((text) => {
      const at = text.search(/e\.x|javascript:|onclick=/);
      return at > 0 && new TextScanner(settingsOf()).push(text.slice(0, at + 3)) === undefined;
    });
    expect(passed.length, name).toBeGreaterThan(50);
  }
});

test(
  "what passes of ordinary texts is inert to every renderer, at each of its beginnings",
  () => {
    for (const { text } of readOrdinaryTexts()) {
      expect(missed(text.slice(0, 250), everyEnd(text.slice(0, 250)))).toBeUndefined();
    }
  },
  LONGEST_TEST,
);

test("the oracle itself knows what is active", () => {
  for (const html of [
    "<img src=//x.example>",
    "<p onclick=x>",
    "<script>x</script>",
    "<style>*{}",
    "<div class=x>text",
    "<a href=javascript:x>",
    "<svg><path d=x>",
    "<b style='background:url(x)'>",
    "<iframe src=x>",
  ]) {
    expect(whyActive(html)).toBeTypeOf("string");
  }
  for (const html of [
    "<p>a</p>",
    "<script></p>",
    "<img src=/x alt=y>",
    "<a href=https://x.example>x",
  ]) {
    expect(whyActive(html)).toBeUndefined();
  }
});
