import * as fc from "fast-check";
import { expect, test } from "vitest";
import { compilePolicy } from "../compile/compile.js";
import type { PolicyDocument, PolicyMode, PolicyRules } from "../document/model.js";
import { facts, rules } from "../testing/arbitrary.js";
import { comparePolicies } from "./compare-policies.js";
import type { Effect } from "./effect.js";

const mode = fc.constantFrom<PolicyMode | undefined>(undefined, undefined, "observe", "enforce");
const document = fc.tuple(rules, mode).map(([rules, mode]): PolicyDocument => ({
  hushspec: "0.1.0",
  ...(mode === undefined ? {} : { mode }),
  rules,
}));

/** A policy, and the same with a key or two of another: two policies of chance would differ in everything. */
const pair = fc
  .tuple(document, document, fc.array(fc.nat(11), { maxLength: 2 }))
  .map(([one, other, taken]): [PolicyDocument, PolicyDocument] => {
    const keys = Object.entries(other.rules).flatMap(([block, value]) =>
      Object.keys(value as object).map((key) => [block, key] as const),
    );
    const mixed = structuredClone(one.rules) as Record<string, Record<string, unknown>>;
    for (const place of taken) {
      const [block, key] = keys[place % Math.max(1, keys.length)] ?? [];
      if (block === undefined || key === undefined) continue;
      const from = (other.rules as Record<string, Record<string, unknown>>)[block];
      mixed[block] = { ...mixed[block], [key]: from?.[key] };
    }
    return [one, { ...(taken.length === 1 ? one : other), rules: mixed as PolicyRules }];
  });

test("what is called stricter lets nothing new pass, what is called looser stops nothing new, the same does neither", () => {
  const seen = new Map<Effect, number>();
  fc.assert(
    fc.property(
      pair,
      fc.array(facts, { minLength: 10, maxLength: 20 }),
      ([before, after], list) => {
        const { verdict } = comparePolicies(before, after);
        seen.set(verdict, (seen.get(verdict) ?? 0) + 1);
        const [old, now] = [compilePolicy(before), compilePolicy(after)];
        for (const one of list) {
          const [was, is] = [old.evaluate(one).allow, now.evaluate(one).allow];
          const mayOpen = verdict === "looser" || verdict === "both";
          const mayClose = verdict === "stricter" || verdict === "both";
          expect(mayOpen || !is || was).toBe(true);
          expect(mayClose || !was || is).toBe(true);
        }
      },
    ),
    { numRuns: 500 },
  );
  for (const verdict of ["looser", "stricter", "same"] as const) {
    expect(seen.get(verdict)).toBeGreaterThan(15);
  }
});

test("the way back has the opposite verdict", () => {
  const back = { looser: "stricter", stricter: "looser", both: "both", same: "same" } as const;
  fc.assert(
    fc.property(pair, ([before, after]) => {
      const { verdict } = comparePolicies(before, after);
      expect(comparePolicies(after, before).verdict).toBe(back[verdict]);
    }),
    { numRuns: 300 },
  );
});
