import { CLASSIFICATIONS } from "@countersign/core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalScopes, formatScope, parseScope } from "./grammar.js";
import { coversScope, matchesScope, widenedScopes } from "./match.js";

const part = fc.constantFrom("modal", "toast", "*", "form");
const scopeText = fc
  .tuple(
    fc.constantFrom("*", ...CLASSIFICATIONS),
    part,
    fc.option(fc.constantFrom("a", "b", "*", "x:y"), { nil: undefined }),
  )
  .map(([classification, type, id]) =>
    id === undefined ? `ui:${classification}:${type}` : `ui:${classification}:${type}:${id}`,
  );
test("a scope names class, type and id; the id may hold colons", () => {
  expect(parseScope("ui:submit:modal:confirm-refund")).toEqual({
    classification: "submit",
    componentType: "modal",
    componentId: "confirm-refund",
  });
  expect(parseScope("ui:alert:toast:a:b").componentId).toBe("a:b");
  expect(parseScope("ui:*:*")).toEqual({ classification: "*", componentType: "*" });
});

test.each([
  "",
  "*",
  "ui",
  "ui:submit",
  "ui:submit:",
  "ui:submit:modal:",
  "ui:Submit:modal",
  "ux:submit:modal",
  "ui:submit:mo dal",
  "ui::modal",
  "ui:submit:m\u0000",
])("%j is no scope", (text) => {
  expect(() => parseScope(text)).toThrow("token is malformed: scope");
});

test("a scope for a component does not cover an event without a target", () => {
  expect(matchesScope("ui:submit:modal", { classification: "submit" })).toBe(false);
  expect(matchesScope("ui:submit:*", { classification: "submit" })).toBe(true);
  expect(matchesScope("ui:submit:*:a", { classification: "submit" })).toBe(false);
});

test("a scope for one id does not cover the component as a whole", () => {
  const modal = { classification: "submit", componentType: "modal" };
  expect(matchesScope("ui:submit:modal:a", modal)).toBe(false);
  expect(matchesScope("ui:submit:modal:*", modal)).toBe(true);
});

test("formatting and parsing give the same scope", () => {
  fc.assert(
    fc.property(scopeText, (text) => {
      expect(parseScope(formatScope(parseScope(text)))).toEqual(parseScope(text));
    }),
  );
});

test("a covered scope matches nothing that its cover does not match, for every pair", () => {
  const texts = ["*", "submit", "alert"].flatMap((classification) =>
    ["*", "modal", "toast"].flatMap((type) =>
      ["", ":a", ":b", ":*"].map((id) => parseScope(`ui:${classification}:${type}${id}`)),
    ),
  );
  const events = ["submit", "alert", "display"].flatMap((classification) =>
    [undefined, "modal", "toast", "other"].flatMap((componentType) =>
      [undefined, "a", "b", "c"].map((componentId) => ({
        classification,
        componentType,
        componentId,
      })),
    ),
  );
  const wrong = texts.flatMap((outer) =>
    texts
      .filter((inner) => coversScope(outer, inner))
      .flatMap((inner) =>
        events.filter((event) => matchesScope(inner, event) && !matchesScope(outer, event)),
      ),
  );
  expect(wrong).toEqual([]);
});

test("covering is reflexive and transitive", () => {
  fc.assert(
    fc.property(scopeText, scopeText, scopeText, (a, b, c) => {
      expect(coversScope(a, a)).toBe(true);
      expect(!(coversScope(a, b) && coversScope(b, c)) || coversScope(a, c)).toBe(true);
    }),
  );
});

test("the canonical order does not depend on the order given and keeps every text", () => {
  fc.assert(
    fc.property(fc.array(scopeText, { maxLength: 20 }), (scopes) => {
      const canonical = canonicalScopes(scopes);
      expect(canonicalScopes(scopes.toReversed())).toEqual(canonical);
      expect(new Set(canonical)).toEqual(new Set(scopes));
    }),
  );
});

test("widened scopes are named", () => {
  expect(
    widenedScopes(["ui:submit:modal"], ["ui:submit:modal:a", "ui:submit:*", "ui:alert:modal"]),
  ).toEqual(["ui:submit:*", "ui:alert:modal"]);
});
