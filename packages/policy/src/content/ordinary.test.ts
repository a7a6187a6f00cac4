import { expect, test } from "vitest";
import { settingsOf } from "./testing/settings-of.js";
import type { ContentSettings } from "./settings.js";
import { TextScanner } from "./text-scanner.js";
import { readOrdinaryTexts } from "./testing/ordinary-texts.js";

const TEXTS = readOrdinaryTexts();

/** Titles of the texts in which something is found, cut as `cut` says. */
function alarms(
  cut: (text: string) => readonly string[],
  changes: Partial<ContentSettings> = {},
): string[] {
  const settings = settingsOf(changes);
  return TEXTS.filter(({ text }) => {
    const scanner = new TextScanner(settings);
    return cut(text).some((piece) => scanner.push(piece) !== undefined);
  }).map(({ title }) => title);
}

const BY_EVENT = { isByEvent: true };
const letters = (text: string): string[] => text.split("");
/** Pieces as models write them: a word, or a run of signs. */
const tokens = (text: string): string[] =>
  text.match(/\s?[\p{L}\p{N}]+|\s+|[^\p{L}\p{N}\s]{1,2}/gu) ?? [];

/** Their beginning is active to a page that shows it before the code is closed. */
const ACTIVE_UNTIL_CLOSED = [
  "element with class and text",
  "remote image in code",
  "handler in code",
  "script with body in code",
  "markdown remote image in code",
];

/** Code to the renderers we know, but not in a form on which every renderer must agree. */
const NOT_PLAIN = ["indented code", "text between item and code"];
const BLOCKED = [...ACTIVE_UNTIL_CLOSED, ...NOT_PLAIN].toSorted();

test("of 266 ordinary texts only those are blocked whose beginnings are active or whose code is not plain", () => {
  expect(TEXTS.length).toBeGreaterThanOrEqual(266);
  expect(alarms(letters).toSorted()).toEqual(BLOCKED);
  expect(alarms(tokens).toSorted()).toEqual(BLOCKED);
  expect(alarms((text) => letters(text.replaceAll("\n", "\r\n"))).toSorted()).toEqual(BLOCKED);
});

test("where a page shows no less than an event, only code that is not plain is blocked if it comes whole", () => {
  expect(alarms((text) => [text], BY_EVENT)).toEqual(NOT_PLAIN);
  expect(alarms((text) => text.split(/(?<=\n)/), BY_EVENT)).toEqual(NOT_PLAIN);
  expect(alarms(letters, BY_EVENT).toSorted()).toEqual(BLOCKED);
});

test("a page that shows no HTML, or no Markdown either, gets all of them", () => {
  expect(alarms(letters, { markup: false })).toEqual(["markdown remote image in code"]);
  expect(alarms(letters, { markup: false, images: false, links: false })).toEqual([]);
});
