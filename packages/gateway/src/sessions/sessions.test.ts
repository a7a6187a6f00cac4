import { expect, test } from "vitest";
import { Sessions } from "./sessions.js";

test("a session in which nothing happened is forgotten, one with a token or a decision is kept", () => {
  const sessions = new Sessions({ now: () => 1 });
  sessions.open("refused");
  sessions.addToken("granted", "token");
  sessions.open("blocked").counters.blocked += 1;
  for (const id of ["refused", "granted", "blocked", "unknown"]) sessions.forgetEmpty(id);
  expect(sessions.list().map(({ id }) => id)).toEqual(["blocked", "granted"]);
});

test("a token that is handed over twice is kept once, as the newest", () => {
  const sessions = new Sessions({ now: () => 1 });
  for (const token of ["a", "b", "a"]) sessions.addToken("s1", token);
  expect(sessions.find("s1")?.tokens).toEqual(["b", "a"]);
});

test("the sessions used last come first, as many as were asked for", () => {
  const sessions = new Sessions({ now: () => 1 });
  for (const id of ["a", "b", "c", "a"]) sessions.open(id);
  const recent = (count: number): string[] => sessions.recent(count).map(({ id }) => id);
  expect([recent(0), recent(2), recent(9)]).toEqual([[], ["a", "c"], ["a", "c", "b"]]);
});
