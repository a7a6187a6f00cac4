import * as fc from "fast-check";
import { expect, test } from "vitest";
import { compilePolicy } from "../compile/compile.js";
import type { PolicyDocument, PolicyMode, PolicyRules } from "../document/model.js";
import type { DecisionFacts } from "../compile/facts.js";
import { facts, rules } from "../testing/arbitrary.js";
import { comparePolicies } from "./compare-policies.js";
import type { Effect } from "./effect.js";

const optional = { requiredKeys: [] };
const mode = fc.constantFrom<PolicyMode | undefined>(undefined, undefined, "observe", "enforce");
const action = fc.constantFrom("allow" as const, "block" as const);
const toolPattern = fc.constantFrom("get", "get_*", "get_user", "*_user", "g?t", "pay", "*");
const names = fc.record(
  { allow: fc.uniqueArray(toolPattern), block: fc.uniqueArray(toolPattern), default: action },
  optional,
);
const tools = fc.record(
  {
    enabled: fc.boolean(),
    mode: fc.constantFrom<PolicyMode>("observe", "enforce"),
    call: names,
    declare: names,
    require_advertised: fc.boolean(),
    allow_agent_results: fc.boolean(),
    arguments: fc.constantFrom({}, { get: { required: ["a"] } }, { pay: { type: "object" } }),
  },
  optional,
);
const order = fc.record(
  {
    enabled: fc.boolean(),
    on_error: action,
    on_warning: action,
    rules: fc.dictionary(fc.constantFrom("run/after-error", "run/after-finish"), action),
  },
  optional,
);
const condition = fc.record(
  {
    id: fc.constantFrom("one", "two"),
    when: fc.constantFrom("true", 'event.direction == "inbound"'),
    effect: action,
    match: fc.record(
      {
        classification: fc.constantFrom("submit" as const, "display" as const),
        tool: toolPattern,
        direction: fc.constantFrom("inbound" as const, "outbound" as const),
      },
      optional,
    ),
  },
  { requiredKeys: ["id", "when"] },
);
const conditions = fc.record({
  rules: fc.uniqueArray(condition, { maxLength: 2, selector: ({ id }) => id }),
});
const more = fc.record(
  { ag_ui_tools: tools, ag_ui_order: order, ag_ui_conditions: conditions },
  optional,
);

const document = fc.tuple(rules, more, mode).map(([rules, more, mode]): PolicyDocument => ({
  hushspec: "0.1.0",
  ...(mode === undefined ? {} : { mode }),
  rules: { ...rules, ...more } as PolicyRules,
}));

const call = fc.record({
  name: fc.constantFrom("get", "get_user", "put_user", "pay"),
  byClient: fc.boolean(),
  state: fc.constantFrom("whole" as const, "partial" as const),
  arguments: fc.constantFrom({}, { a: 1 }),
});
const violation = fc.constantFrom(
  { rule: "run/after-error", severity: "error" as const },
  { rule: "run/first-event", severity: "error" as const },
);
const source = fc.constantFrom("ENVELOPE" as const, "TOOL_CALL_START" as const);
const question = fc
  .tuple(
    facts,
    source,
    fc.option(call),
    fc.option(violation),
    fc.option(fc.constantFrom("get", "pay")),
  )
  .map(([one, source, call, violation, declared]): DecisionFacts => ({
    ...one,
    ...(violation === null ? {} : { violations: [violation] }),
    event: {
      ...one.event,
      source,
      ...(call === null ? {} : { toolCalls: [call] }),
      ...(declared === null ? {} : { declaredTools: [declared] }),
    },
  }));

/**
 * A policy, and the same with a key or two of another: two random policies would differ in
 * everything.
 */
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
      fc.array(question, { minLength: 10, maxLength: 20 }),
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
    { numRuns: 400 },
  );
  for (const verdict of ["looser", "stricter", "same"] as const) {
    expect(seen.get(verdict)).toBeGreaterThan(15);
  }
});

test("the reverse change has the opposite verdict", () => {
  const back = { looser: "stricter", stricter: "looser", both: "both", same: "same" } as const;
  fc.assert(
    fc.property(pair, ([before, after]) => {
      const { verdict } = comparePolicies(before, after);
      expect(comparePolicies(after, before).verdict).toBe(back[verdict]);
    }),
    { numRuns: 300 },
  );
});
