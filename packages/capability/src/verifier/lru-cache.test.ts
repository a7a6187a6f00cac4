import { expect, test } from "vitest";
import { createLruCache } from "./lru-cache.js";

test("the least recently used value is evicted first, and the bound is never exceeded", () => {
  const recent = createLruCache<number>(2);
  recent.set("a", 1);
  recent.set("b", 2);
  expect(recent.get("a")).toBe(1);
  recent.set("c", 3);
  expect(recent.get("b")).toBeUndefined();
  expect(recent.get("a")).toBe(1);
  expect(recent.get("c")).toBe(3);
  for (let key = 0; key < 100; key++) recent.set(String(key), key);
  expect(recent.size).toBe(2);
});

test("setting a key again replaces its value and uses no second slot", () => {
  const recent = createLruCache<number>(2);
  recent.set("a", 1);
  recent.set("b", 2);
  recent.set("a", 3);
  expect([recent.get("a"), recent.get("b"), recent.size]).toEqual([3, 2, 2]);
});
