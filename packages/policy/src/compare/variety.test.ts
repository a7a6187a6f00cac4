import * as fc from "fast-check";
import { expect, test } from "vitest";
import { compilePolicy } from "../compile/compile.js";
import type { CompiledPolicy } from "../compile/compile.js";
import { moment } from "../testing/happenings.js";
import { pairOfPolicies } from "../testing/policies.js";
import { comparePolicies } from "./compare-policies.js";
import type { Effect } from "./effect.js";

test("whatever two policies differ in, stricter opens nothing, looser stops nothing, the same does neither", () => {
  const seen = new Set<Effect>();
  fc.assert(
    fc.property(
      pairOfPolicies,
      fc.array(moment, { minLength: 20, maxLength: 40 }),
      ([before, after], moments) => {
        const { verdict } = comparePolicies(before, after);
        seen.add(verdict);
        if (verdict === "both") return;
        const [old, now] = [compilePolicy(before), compilePolicy(after)];
        const opened = moments.filter((one) => passes(now, one) && !passes(old, one));
        const stopped = moments.filter((one) => passes(old, one) && !passes(now, one));
        expect(verdict === "looser" ? [] : opened.map(([{ event }]) => event)).toEqual([]);
        expect(verdict === "stricter" ? [] : stopped.map(([{ event }]) => event)).toEqual([]);
      },
    ),
    { numRuns: 300 },
  );
  expect([...seen].toSorted()).toEqual(["both", "looser", "same", "stricter"]);
});

type Moment = typeof moment extends fc.Arbitrary<infer One> ? One : never;

function passes(
  policy: CompiledPolicy,
  [happening, transport, eventsInSecond, used, capability, violations, deniedCalls]: Moment,
): boolean {
  const event = happening.facts(policy.refinements);
  const velocity = policy.limits.velocity.map(({ match }) =>
    match(event, event) || (event.also ?? []).some((aspect) => match(event, aspect)) ? used : 0,
  );
  return policy.evaluate({
    event,
    transport,
    counters: { eventsInSecond, velocity },
    capability,
    variables: { event: happening.event, session: {} },
    ...(violations === undefined ? {} : { violations }),
    deniedCalls,
  }).allow;
}
