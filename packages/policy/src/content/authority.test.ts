import { characterEntities } from "character-entities";
import { expect, test } from "vitest";
import { UserBeforeHost } from "./authority.js";

const isFound = (text: string): boolean => {
  const user = new UserBeforeHost();
  return Array.from(text, (letter) => user.feed(letter.charCodeAt(0))).includes(true);
};

test("every name of a reference for what an address is written with is decoded", () => {
  const names = Object.entries(characterEntities);
  expect(names.length).toBeGreaterThan(2000);
  for (const [sign, before, after] of [
    [":", "https", "//bank.example@evil.example"],
    ["/", "https:", "/bank.example@evil.example"],
    [".", "www", "bank.example@evil.example"],
    ["@", "www&period;bank.example", "evil.example"],
    ["h", "", "ttps://bank.example@evil.example"],
  ] as const) {
    for (const [name] of names.filter(([, text]) => text === sign)) {
      expect(isFound(`${before}&${name};${after}`), name).toBe(true);
    }
  }
});

test("ordinary addresses and mail addresses beside them pass", () => {
  for (const text of [
    "https://docs.example/@team and help@docs.example",
    "https://docs.example, help@docs.example",
    "AT&T https://docs.example?a=b&c=d@e",
    "//@ts-check and // see me@docs.example",
    "git@github.com:a/b.git",
    "&copy; help@docs.example, &lt;help@docs.example&gt;",
    "C:\\\\Users\\\\me@home, a\\\\/b@c",
  ]) {
    expect(isFound(text), text).toBe(false);
  }
});
