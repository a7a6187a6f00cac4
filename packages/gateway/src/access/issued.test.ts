import { expect, test } from "vitest";
import { IssuedTokens } from "./capabilities.js";

test("the expiry of a token is known for tokens narrowed from it too, and for no others", () => {
  const issued = new IssuedTokens();
  issued.add("cap", 7);
  expect(["cap", "cap/a", "cap/a/b"].map((id) => issued.endOf(id))).toEqual([7, 7, 7]);
  expect(["cap2", "", "/cap", "x/cap"].map((id) => issued.endOf(id))).toEqual(
    Array.from({ length: 4 }),
  );
});

test("ten thousand tokens are remembered, and the oldest is dropped first", () => {
  const issued = new IssuedTokens();
  for (let count = 0; count <= 10_000; count += 1) issued.add(`cap-${count}`, count);
  expect(issued.endOf("cap-0")).toBeUndefined();
  expect(issued.endOf("cap-1")).toBe(1);
  expect(issued.endOf("cap-10000")).toBe(10_000);
});
