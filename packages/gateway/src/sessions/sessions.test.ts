import { expect, test } from "vitest";
import { Sessions } from "./sessions.js";

test("an empty session is removed, one with a token or a decision is kept", () => {
  const sessions = new Sessions({ now: () => 1 });
  sessions.open("refused");
  sessions.addToken("granted", { token: "token" });
  sessions.open("blocked").counters.blocked += 1;
  for (const id of ["refused", "granted", "blocked", "unknown"]) sessions.forgetEmpty(id);
  expect(sessions.list().map(({ id }) => id)).toEqual(["blocked", "granted"]);
});

test("a token that is handed over twice is kept once, as the newest", () => {
  const sessions = new Sessions({ now: () => 1 });
  for (const token of ["a", "b", "a"]) sessions.addToken("s1", { token });
  expect(sessions.find("s1")?.tokens).toEqual([{ token: "b" }, { token: "a" }]);
});

test("an older token does not make a session the most recent one, and another is evicted first", () => {
  let now = 1;
  const sessions = new Sessions({ now: () => now }, 2);
  for (const id of ["a", "b"]) {
    now += 10;
    sessions.open(id);
  }
  sessions.addToken("a", { token: "token" }, 5);
  expect(sessions.list().map(({ id, lastSeen }) => [id, lastSeen])).toEqual([
    ["b", 21],
    ["a", 11],
  ]);
  sessions.open("c");
  expect(sessions.list().map(({ id }) => id)).toEqual(["c", "b"]);
});

test("the session in use is the most recent one, also when the clock was set back", () => {
  let now = 100;
  const sessions = new Sessions({ now: () => now });
  for (const id of ["a", "b"]) sessions.open(id);
  now = 50;
  sessions.open("a");
  expect(sessions.list().map(({ id, lastSeen }) => [id, lastSeen])).toEqual([
    ["a", 100],
    ["b", 100],
  ]);
});

test("the most recently used sessions come first, limited to the requested count", () => {
  const sessions = new Sessions({ now: () => 1 });
  for (const id of ["a", "b", "c", "a"]) sessions.open(id);
  const recent = (count: number): string[] => sessions.recent(count).map(({ id }) => id);
  expect([recent(0), recent(2), recent(9)]).toEqual([[], ["a", "c"], ["a", "c", "b"]]);
});
