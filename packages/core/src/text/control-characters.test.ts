import { expect, test } from "vitest";
import { hasControlCharacter } from "./printable.js";

const CODES = [
  0x00, 0x07, 0x09, 0x0a, 0x0d, 0x1b, 0x7f, 0x85, 0x9b, 0x61c, 0x200e, 0x200f, 0x2028, 0x2029,
  0x202a, 0x202e, 0x2066, 0x2069, 0xe0001, 0xe0041, 0xe007f,
];

test.each(CODES)("a name with the character %i has a control character", (code) => {
  expect(hasControlCharacter(`a${String.fromCodePoint(code)}b`)).toBe(true);
});

test.each([
  "",
  "get_weather",
  "Look up the order",
  "langgraph:node/1 (α)",
  "Größe prüfen",
  "検索 エージェント",
  "جستجو\u200Cگر",
  "👩\u200D💻 coder",
  "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F} translator",
])("the name %j has none", (name) => {
  expect(hasControlCharacter(name)).toBe(false);
});
