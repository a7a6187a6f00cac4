import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Tier } from "../model/document.js";
import type { IndicatorResult } from "./verdict.js";
import { computeVerdict } from "./verdict.js";

const [matched, not, error, skipped] = ["matched", "not_matched", "error", "skipped"] as const;

function judge(
  logic: "any" | "all",
  results: readonly (IndicatorResult | undefined)[],
  tiers: readonly (Tier | undefined)[] = [],
) {
  const indicators = results.map((_, index) => ({
    id: `I-${index}`,
    protocol: "ag_ui",
    target: "",
    ...(tiers[index] === undefined ? {} : { tier: tiers[index] }),
  }));
  const verdicts = results.flatMap((result, index) =>
    result === undefined ? [] : [{ indicator_id: `I-${index}`, result }],
  );
  return computeVerdict({ id: "ACME-001", indicators, correlation: { logic } }, verdicts);
}

test.each<[readonly (IndicatorResult | undefined)[], string, string]>([
  [[skipped, skipped], "error", "error"],
  [[undefined, undefined], "error", "error"],
  [[matched, error], "error", "error"],
  [[not, error], "error", "error"],
  [[matched, matched], "exploited", "exploited"],
  [[matched, not], "exploited", "partial"],
  [[matched, skipped], "exploited", "partial"],
  [[matched, undefined], "exploited", "partial"],
  [[not, skipped], "not_exploited", "not_exploited"],
  [[not, not], "not_exploited", "not_exploited"],
  [[matched], "exploited", "exploited"],
])("%j is %s under any and %s under all", (results, any, all) => {
  expect(judge("any", results).result).toBe(any);
  expect(judge("all", results).result).toBe(all);
});

test("a document without indicators is an error with a reason, never a pass", () => {
  const verdict = computeVerdict({ correlation: { logic: "any" } }, []);
  expect(verdict).toMatchObject({ result: "error", diagnostic: "the document has no indicators" });
  expect(verdict).not.toHaveProperty("attack_id");
});

test("the counts sum to the number of indicators, and order does not matter", () => {
  const result = fc.constantFrom(matched, not, error, skipped, undefined);
  fc.assert(
    fc.property(
      fc.constantFrom("any", "all"),
      fc.array(result, { minLength: 1, maxLength: 6 }),
      (logic, results) => {
        const forwards = judge(logic, results);
        const summary = Object.values(forwards.evaluation_summary);
        expect(summary.reduce((sum, count) => sum + count, 0)).toBe(results.length);
        expect(judge(logic, results.toReversed()).result).toBe(forwards.result);
      },
    ),
  );
});

test("the highest tier of the matched indicators is reported, unless nothing was exploited", () => {
  expect(
    judge("any", [matched, matched, not], ["ingested", "local_action", "boundary_breach"]).max_tier,
  ).toBe("local_action");
  expect(judge("any", [matched], [])).not.toHaveProperty("max_tier");
  expect(judge("any", [not], ["boundary_breach"])).not.toHaveProperty("max_tier");
});

test("verdicts of indicators the document does not have are left out, equal ids are taken in turn", () => {
  const indicators = ["a", "a"].map((id) => ({ id, protocol: "ag_ui", target: "" }));
  const verdict = computeVerdict({ indicators, correlation: { logic: "all" } }, [
    { indicator_id: "ghost", result: "matched" },
    { indicator_id: "a", result: "matched" },
    { indicator_id: "a", result: "not_matched" },
  ]);
  expect(verdict.result).toBe("partial");
  expect(verdict.indicator_verdicts.map(({ result }) => result)).toEqual([
    "matched",
    "not_matched",
  ]);
});
