import { expect, test } from "vitest";
import { Identities } from "../event/client-identity.js";
import { filterOf, pageOf, sequenceOf } from "./query.js";

const PLAIN = new Identities();

test("a query string becomes a filter and a page", () => {
  const query = {
    classification: "submit",
    allowed: "false",
    since: "1000",
    limit: "5",
    order: "oldest",
  };
  expect(filterOf(query, PLAIN)).toEqual({ classification: "submit", allowed: false, since: 1000 });
  expect(pageOf(query)).toEqual({ limit: 5, order: "oldest" });
  expect(sequenceOf("17")).toBe(17);
});

test.each([
  [{ bogus: "1" }, /bogus must be one of/],
  [{ since: "x" }, /since must be a whole number/],
  [{ allowed: "yes" }, /allowed must be true or false/],
])("%j is refused rather than ignored", (query, message) => {
  expect(() => filterOf(query as Record<string, string>, PLAIN)).toThrow(message);
});

test("a sequence number is written in plain digits", () => {
  expect(() => sequenceOf("0x1")).toThrow(/whole number/);
  expect(() => pageOf({ order: "sideways" })).toThrow(/newest or oldest/);
});

test("a principal is found in the form that the log has, and noted is the earlier name of would_block", () => {
  const key = new Uint8Array(32).fill(7);
  const hashed = new Identities({ principal: "hashed", key });
  const { principal = "" } = hashed.of({ id: "key:bob" }, undefined);
  expect(principal).toMatch(/^hmac:[0-9a-f]{32}$/u);
  expect(filterOf({ principal: "key:bob" }, hashed)).toEqual({ principal: ["key:bob", principal] });
  expect(filterOf({ principal }, hashed)).toEqual({ principal: [principal] });
  expect(filterOf({ noted: "true" }, PLAIN)).toEqual({ would_block: true });
});
