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
