import * as fc from "fast-check";
import { expect, test } from "vitest";
import { settingsOf } from "./testing/settings-of.js";
import { readOrdinaryTexts } from "./testing/ordinary-texts.js";
import { TextScanner } from "./text-scanner.js";
import { whyActive } from "./testing/active.js";
import { GENERATED_TEXTS } from "./testing/generated-texts.js";
import { RENDERERS } from "./testing/renderers.js";

/** How many texts are generated of each kind; more are tried with COUNTERSIGN_ORACLE_RUNS. */
const RUNS = Number(process.env["COUNTERSIGN_ORACLE_RUNS"] ?? 40);
/** Characters with which a renderer may change its mind about what stands before them. */
const TURNS = /[>)\]\n`]/;

/** A beginning of the text that some renderer makes active although nothing was found in it yet. */
function missed(text: string, cuts: readonly number[], isByEvent = false): string | undefined {
  const scanner = new TextScanner(settingsOf({ isByEvent }));
  let from = 0;
  for (const end of cuts) {
    if (scanner.push(text.slice(from, end)) !== undefined) return undefined;
    from = end;
    const isLast = end === text.length;
    if (!isLast && cuts.length > 8 && !TURNS.test(text.charAt(end - 1))) continue;
    for (const [name, render] of RENDERERS) {
      const why = whyActive(render(text.slice(0, end)));
      if (why !== undefined) return `${name}: ${why}: ${JSON.stringify(text.slice(0, end))}`;
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
);

test.each(GENERATED_TEXTS)(
  "shown event by event, no text (%s) is active to a renderer at the end of an event before it is found",
  (_, texts) => {
    fc.assert(
      fc.property(texts, fc.array(fc.nat(80), { maxLength: 4 }), (text, places) => {
        const inner = places.filter((place) => place > 0 && place < text.length);
        const cuts = [...new Set([...inner, text.length])].toSorted((a, b) => a - b);
        expect(missed(text, cuts, true)).toBeUndefined();
      }),
      { numRuns: RUNS },
    );
  },
);

test("what passes of ordinary texts is inert to every renderer, at each of its beginnings", () => {
  for (const { text } of readOrdinaryTexts()) {
    expect(missed(text.slice(0, 250), everyEnd(text.slice(0, 250)))).toBeUndefined();
  }
}, 60_000);

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
