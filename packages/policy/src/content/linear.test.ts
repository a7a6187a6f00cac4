import { expect, test } from "vitest";
import { createContentReader } from "./reader.js";
import { settingsOf } from "./testing/settings-of.js";

/** Pieces that open something without closing it, or that could be counted again and again. */
const UNITS: readonly string[] = [
  [..."-+*>#<![](){}`~&\\/@.:|_='\"$1 \t\n\r"],
  ["- ", "+ ", "* ", "1. ", "1) ", "12345. ", "> ", ">", "> - ", "- > ", "-\t", "1.\t", "- 1. "],
  ["-\n", "- a\n", " - a\n", "> a\n", "    a\n", "```\n", "~~~\n", "- ```\n", "` ", "`` ` "],
  ["<a ", "<a b=", "<a b='", "<!--", "<![CDATA[", "<?", "</", "<script>", "<svg><style>"],
  ["[a](", "[a](<", "![", "![a](", "[a]:", "[[", "](", "[a][", "\n\n", "a\n\n", "\n- "],
  ["&amp;", "&#", "&#x0", "&a", "\\\\", "http", "https://", "https://a@", "www.", "//", "/\\"],
  ["\u200B", "\u200Ea", "\u202A\u202C", "\u{1F3F4}", "\u{E0067}", "\u2800", "字", "é", "\uD800"],
].flat();
const SIZE = 2_000;
const SETTINGS = settingsOf({ words: ["aab", "never"], parts: new Set(["text", "results"]) });

const filled = (unit: string, size: number): string => unit.repeat(Math.ceil(size / unit.length));

/** How a text of a stream can be brought: in one piece, in small ones, and beside the messages. */
const FORMS: readonly ((text: string) => readonly object[])[] = [
  (text) => [{ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: text }],
  (text) =>
    (text.match(/[^]{1,7}/g) ?? []).map((delta) => ({
      type: "TEXT_MESSAGE_CONTENT",
      messageId: "m",
      delta,
    })),
  (text) => [{ type: "RUN_FINISHED", result: text }],
];

/** Processor time in microseconds, the least of several tries: other programs on the machine do not count. */
function cost(events: readonly object[], tries: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let at = 0; at < tries; at += 1) {
    const reader = createContentReader(SETTINGS);
    const before = process.cpuUsage();
    for (const event of events) reader.read(event as never);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, user + system);
  }
  return least;
}

test("a text costs in proportion to its length, whatever it repeats", () => {
  const slow = UNITS.flatMap(
    (unit) =>
      FORMS.map((form, at) => {
        const few = cost(form(filled(unit, SIZE)), 3);
        const many = cost(form(filled(unit, 8 * SIZE)), 1);
        return { unit, form: at, few, many };
      }),
    // Eight times the length; in proportion to its square it would cost 64 times as much.
  ).filter(({ few, many }) => many > 32 * Math.max(few, 400));
  expect(slow).toEqual([]);
}, 120_000);
