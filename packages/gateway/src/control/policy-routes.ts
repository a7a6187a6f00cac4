import type { Hono } from "hono";
import type { ReplaceResult } from "@countersign/policy";
import type { OpenPolicy } from "../serve/open-policy.js";

/** The active policy, and the way to have its file read again. */
export function addPolicyRoutes(app: Hono, policy: OpenPolicy, reload: () => ReplaceResult): void {
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
  app.post("/v1/policy/reload", (context) => {
    const result = reload();
    return result.replaced
      ? context.json({ changed: result.changed, hash: result.policy.hash })
      : context.json(
          { changed: false, hash: policy.holder.current.hash, issues: result.issues },
          422,
        );
  });
}
