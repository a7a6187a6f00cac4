import { expect, test } from "vitest";
import { settingsOf } from "../../testing/content-settings.js";
import { TextScanner } from "../text-scanner.js";
import { readOrdinaryTexts } from "./texts.js";

const TEXTS = readOrdinaryTexts();

/** Titles of the texts in which something is found, cut as `cut` says. */
function alarms(cut: (text: string) => readonly string[], isByEvent: boolean): string[] {
  const settings = settingsOf({ isByEvent });
  return TEXTS.filter(({ text }) => {
    const scanner = new TextScanner(settings);
    return cut(text).some((piece) => scanner.push(piece) !== undefined);
  }).map(({ title }) => title);
}

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

test("of some two hundred ordinary texts only those are blocked whose beginnings are active", () => {
  expect(TEXTS.length).toBeGreaterThanOrEqual(190);
  expect(alarms((text) => text.split(""), false)).toEqual(ACTIVE_UNTIL_CLOSED);
  expect(alarms(tokens, false)).toEqual(ACTIVE_UNTIL_CLOSED);
});

test("where a page shows no less than an event, none is blocked that comes whole", () => {
  expect(alarms((text) => [text], true)).toEqual([]);
  expect(alarms((text) => text.split(/(?<=\n)/), true)).toEqual([]);
  expect(alarms((text) => text.split(""), true)).toEqual(ACTIVE_UNTIL_CLOSED);
});
