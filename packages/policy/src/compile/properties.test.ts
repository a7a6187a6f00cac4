import * as fc from "fast-check";
import { expect, test } from "vitest";
import { compilePolicy } from "./compile.js";
import type { CompiledPolicy } from "./compile.js";
import { hashDocument, readPolicy } from "../document/load.js";
import type { AgUiBlock, PolicyDocument, PolicyRules } from "../document/model.js";
import { CLASSIFICATIONS } from "../vocabulary/classification.js";
import {
  aspect,
  capability,
  capabilityScope,
  classification,
  component,
  facts,
  rules,
} from "../testing/arbitrary.js";
import type { CapabilityFacts } from "./facts.js";

const RUNS = { numRuns: 300 };

const documentOf = (rules: PolicyRules): PolicyDocument => ({ hushspec: "0.1.0", rules });
const compiled = (rules: PolicyRules): CompiledPolicy => compilePolicy(documentOf(rules));

/** Restrictions, each of which may restrict and must never allow more. */
const restriction = fc.oneof(
  fc.constant((rules: PolicyRules): PolicyRules => ({
    ...rules,
    ag_ui: { ...rules.ag_ui, allow_display_without_capability: false },
  })),
  classification.map((name) => (rules: PolicyRules): PolicyRules => ({
    ...rules,
    ag_ui: {
      ...rules.ag_ui,
      restricted_classifications: [
        ...(rules.ag_ui?.restricted_classifications ?? [...CLASSIFICATIONS]),
        name,
      ],
    },
  })),
  capabilityScope.map((entry) => (rules: PolicyRules): PolicyRules => ({
    ...rules,
    ag_ui: {
      ...rules.ag_ui,
      capability_scopes: [...(rules.ag_ui?.capability_scopes ?? []), entry],
    },
  })),
  fc.integer({ min: 1, max: 20 }).map((limit) => (rules: PolicyRules): PolicyRules => {
    const block: AgUiBlock = rules.ag_ui ?? {};
    const before = block.max_events_per_second ?? 10_000;
    return { ...rules, ag_ui: { ...block, max_events_per_second: Math.min(before, limit) } };
  }),
  component.map((name) => (rules: PolicyRules): PolicyRules => ({
    ...rules,
    ag_ui_components: {
      ...(rules.ag_ui_components ?? { default: "allow" }),
      block_components: [name],
    },
  })),
  component.map((name) => (rules: PolicyRules): PolicyRules => {
    const before = rules.ag_ui_components;
    if (before?.allow_components === undefined) {
      // A new list opens what an empty block denied; only a missing or open block restricts.
      return before === undefined || before.default === "allow"
        ? { ...rules, ag_ui_components: { ...before, default: "block", allow_components: [name] } }
        : rules;
    }
    const allow_components = before.allow_components.filter((entry) => entry === name);
    return { ...rules, ag_ui_components: { ...before, allow_components } };
  }),
  classification.map(
    (name) =>
      (rules: PolicyRules): PolicyRules =>
        rules.ag_ui_inbound === undefined
          ? rules
          : {
              ...rules,
              ag_ui_inbound: {
                ...rules.ag_ui_inbound,
                allow_classifications: (rules.ag_ui_inbound.allow_classifications ?? []).filter(
                  (entry) => entry !== name,
                ),
              },
            },
  ),
  fc.constant((rules: PolicyRules): PolicyRules => ({
    ...rules,
    ag_ui_conditions: {
      rules: [{ id: "c", when: 'event.direction == "inbound"', effect: "block" }],
    },
  })),
  fc.constant((rules: PolicyRules): PolicyRules => ({
    ...rules,
    velocity: { max_invocations: 1, window_seconds: 1, match: { event_type: "custom" } },
  })),
);

test("adding a restriction never allows more", () => {
  fc.assert(
    fc.property(
      rules,
      restriction,
      fc.array(facts, { minLength: 5, maxLength: 15 }),
      (rules, restrict, list) => {
        const before = compiled(rules);
        const after = compiled(restrict(rules));
        for (const one of list) {
          expect(!after.evaluate(one).allow || before.evaluate(one).allow).toBe(true);
        }
      },
    ),
    RUNS,
  );
});

test("removing a capability, or one of its scopes, never allows more", () => {
  fc.assert(
    fc.property(rules, facts, capability, fc.nat(3), (rules, base, capability, dropped) => {
      const policy = compiled(rules);
      const ask = (capability: CapabilityFacts | undefined): boolean =>
        policy.evaluate({ ...base, capability }).allow;
      const narrowed = {
        ...capability,
        scopes: capability.scopes.filter((_, index) => index !== dropped),
      };
      const whole = ask(capability);
      expect(!ask(narrowed) || whole).toBe(true);
      expect(!ask(undefined) || whole).toBe(true);
    }),
    RUNS,
  );
});

test("a further thing an event does never makes it more allowed", () => {
  fc.assert(
    fc.property(rules, facts, aspect, (rules, base, further) => {
      const policy = compiled(rules);
      const more = {
        ...base,
        event: { ...base.event, also: [...(base.event.also ?? []), further] },
      };
      expect(!policy.evaluate(more).allow || policy.evaluate(base).allow).toBe(true);
    }),
    RUNS,
  );
});

test("what observe mode lets pass is what enforce mode decides, said as a remark", () => {
  fc.assert(
    fc.property(rules, facts, (rules, one) => {
      const enforced = compiled(rules).evaluate(one);
      const seen = compilePolicy({ ...documentOf(rules), mode: "observe" }).evaluate(one);
      expect(seen).toMatchObject(enforced.allow ? enforced : { allow: true, observed: enforced });
    }),
    RUNS,
  );
});

function shuffled(value: unknown, salt: number): unknown {
  if (Array.isArray(value)) return value.map((entry) => shuffled(entry, salt));
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).map(
    ([key, entry]) => [key, shuffled(entry, salt)] as const,
  );
  return Object.fromEntries(
    entries.toSorted(([left], [right]) => ((left.length * salt) % 7) - ((right.length * salt) % 7)),
  );
}

test("neither the order of keys nor the layout of the file changes policy or decision", () => {
  fc.assert(
    fc.property(rules, facts, fc.integer({ min: 1, max: 6 }), (rules, one, salt) => {
      const whole = readPolicy(JSON.stringify(shuffled(documentOf(rules), salt)));
      const fragment = readPolicy(JSON.stringify(shuffled(rules, salt + 1), undefined, 2));
      expect(whole.issues).toEqual([]);
      expect(fragment.policy?.hash).toBe(whole.policy?.hash);
      expect(whole.policy?.hash).toBe(hashDocument(documentOf(rules)));
      expect(compilePolicy(whole.policy!).evaluate(one)).toEqual(compiled(rules).evaluate(one));
    }),
    { numRuns: 60 },
  );
});

test("evaluate never throws, whatever it is given", () => {
  const policy = compiled({ ag_ui: {}, ag_ui_components: {}, ag_ui_tools: {} });
  fc.assert(
    fc.property(fc.anything(), (value) => {
      const decision = policy.evaluate({ event: value, counters: value } as never);
      expect(decision.allow).toBe(false);
    }),
    RUNS,
  );
});
