import { readdirSync, readFileSync } from "node:fs";
import { ORDER_RULES } from "@countersign/wire/order";
import { expect, test } from "vitest";
import { checkEvents, checkSse, faults } from "../testing/run-check.js";
import { rulePages } from "./pages.js";
import { rulePage, RULES } from "./table.js";
import type { RuleId } from "./table.js";

const ids = Object.keys(RULES) as RuleId[];

test.each(ids.filter((id) => !("text" in RULES[id].example)))(
  "the example of %s breaks that rule, and otherwise gives only notes",
  (id) => {
    const { example, severity } = RULES[id];
    const found =
      "events" in example
        ? checkEvents(example.events)
        : "sse" in example
          ? checkSse(example.sse)
          : [];
    expect(found.map(({ rule }) => rule)).toContain(id);
    expect(faults(found)).toEqual(severity === "note" ? [] : [id]);
  },
);

test("every rule has its own page, and every ordering rule of the wire is in the table", () => {
  expect(new Set(ids.map(rulePage)).size).toBe(ids.length);
  for (const id of Object.keys(ORDER_RULES)) expect(ids).toContain(id);
});

test("the pages in docs/rules are those of the table", () => {
  const folder = new URL("../../../../docs/rules/", import.meta.url);
  const pages = rulePages();
  expect(readdirSync(folder).sort()).toEqual([...pages.keys()].sort());
  for (const [name, text] of pages) {
    expect(readFileSync(new URL(name, folder), "utf8"), name).toBe(text);
  }
});
