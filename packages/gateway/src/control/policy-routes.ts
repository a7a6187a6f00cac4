import type { Hono } from "hono";
import type { ReplaceResult } from "@countersign/policy";
import type { ReceiptStore } from "@countersign/receipts/log";
import type { OpenPolicy } from "./ports.js";
import type { OperatorActs } from "./operator-acts.js";
import { comparePolicy, MAX_RECORDED } from "./policy-compare.js";
import { BODY_LIMITS, readBody } from "./request-body.js";

/** The active policy, the comparison with a candidate, and the reload. */
export function addPolicyRoutes(
  app: Hono,
  policy: OpenPolicy,
  store: ReceiptStore,
  reload: () => ReplaceResult,
  acts: OperatorActs,
): void {
  app.get("/v1/policy", (context) => {
    const { name, hash, mode, rules, document } = policy.holder.current;
    const { ok, failed, isStale, issues } = policy.reloads;
    return context.json({
      name,
      hash,
      mode,
      stale: isStale,
      issues,
      reloads: { ok, failed },
      files: policy.files(),
      rules,
      document,
    });
  });
  app.post("/v1/policy/compare", async (context) => {
    const body = readBody(await context.req.text(), ["text", "recorded"]);
    const text = body.text("text", BODY_LIMITS.policy);
    const recorded = body.optionalCount("recorded", MAX_RECORDED) ?? 0;
    const comparison = await comparePolicy(policy.holder.current, text, recorded, store);
    return context.json(comparison, "issues" in comparison ? 422 : 200);
  });
  app.post("/v1/policy/reload", async (context) => {
    const result = reload();
    if (result.replaced) await acts.note({ act: "policy-reload" });
    return result.replaced
      ? context.json({ changed: result.changed, hash: result.policy.hash })
      : context.json(
          { changed: false, hash: policy.holder.current.hash, issues: result.issues },
          422,
        );
  });
}
