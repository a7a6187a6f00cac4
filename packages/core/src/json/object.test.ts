import { expect, test } from "vitest";
import { isJsonObject, ownMember, setMember } from "./object.js";
import { parseJson } from "./parse.js";
import type { JsonObject } from "./value.js";

test.each([[{}], [{ a: 1 }], [Object.create(null) as object]])("%o is a JSON object", (value) => {
  expect(isJsonObject(value)).toBe(true);
});

test.each([[null], [undefined], [[]], ["{}"], [1], [true]])("%o is not a JSON object", (value) => {
  expect(isJsonObject(value)).toBe(false);
});

test("only own members count: none of the prototype, of a list or of a text", () => {
  const value = parseJson('{"name":"n","__proto__":1}');
  expect(ownMember(value, "name")).toBe("n");
  expect(ownMember(value, "__proto__")).toBe(1);
  expect(ownMember(value, "toString")).toBeUndefined();
  expect(ownMember(["n"], "length")).toBeUndefined();
  expect(ownMember("text", "length")).toBeUndefined();
  expect(ownMember(undefined, "name")).toBeUndefined();
});

test("a member set as __proto__ is ordinary data, and the prototype stays", () => {
  const object: JsonObject = {};
  setMember(object, "__proto__", { polluted: true });
  setMember(object, "b", 2);
  expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
  expect(JSON.stringify(object)).toBe('{"__proto__":{"polluted":true},"b":2}');
  setMember(object, "__proto__", 1);
  expect(ownMember(object, "__proto__")).toBe(1);
});
