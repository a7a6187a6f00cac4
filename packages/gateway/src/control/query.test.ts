import { expect, test } from "vitest";
import { filterOf, pageOf, sequenceOf } from "./query.js";

test("a query string becomes a filter and a page", () => {
  const query = {
    classification: "submit",
    allowed: "false",
    since: "1000",
    limit: "5",
    order: "oldest",
  };
  expect(filterOf(query)).toEqual({ classification: "submit", allowed: false, since: 1000 });
  expect(pageOf(query)).toEqual({ limit: 5, order: "oldest" });
  expect(sequenceOf("17")).toBe(17);
});

test.each([
  [{ bogus: "1" }, /bogus must be one of/],
  [{ since: "x" }, /since must be a whole number/],
  [{ allowed: "yes" }, /allowed must be true or false/],
])("%j is refused rather than ignored", (query, message) => {
  expect(() => filterOf(query as Record<string, string>)).toThrow(message);
});

test("a sequence number is written in plain digits", () => {
  expect(() => sequenceOf("0x1")).toThrow(/whole number/);
  expect(() => pageOf({ order: "sideways" })).toThrow(/newest or oldest/);
});
