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

/** Microseconds of processor time that reading takes: other processes do not count. */
function cost(events: readonly object[]): number {
  const reader = createContentReader(SETTINGS);
  const before = process.cpuUsage();
  for (const event of events) reader.read(event as never);
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/** Tries until the growth is in proportion: other work on the machine makes a try slow, and never a quick one. */
const TRIES = 8;

/** Whether eight times the length costs much more than eight times as much, however often it is tried. */
function growsBeyond(few: readonly object[], many: readonly object[]): boolean {
  let least = Number.POSITIVE_INFINITY;
  let most = 400;
  for (let at = 0; at < TRIES; at += 1) {
    most = Math.max(most, cost(few));
    least = Math.min(least, cost(many));
    // In proportion to the square of the length it would be 64 times.
    if (least <= 32 * most) return false;
  }
  return true;
}

test("a text costs in proportion to its length, whatever it repeats", () => {
  const slow = UNITS.flatMap((unit) =>
    FORMS.flatMap((form, at) => {
      const few = form(filled(unit, SIZE));
      return growsBeyond(few, form(filled(unit, 8 * SIZE))) ? [{ unit, form: at }] : [];
    }),
  );
  expect(slow).toEqual([]);
}, 120_000);
