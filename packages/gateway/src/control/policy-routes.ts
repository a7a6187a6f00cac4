import { compilePolicy, POLICY_SCHEMA } from "@countersign/policy";
import { linesOfRules } from "@countersign/policy/yaml";
import type { ReceiptStore } from "@countersign/receipts/log";
import type { ControlApp, ControlContext } from "./control-env.js";
import type { OperatorActs } from "./operator-acts.js";
import type { PolicyChanger, PolicyChangeResult, PolicyChanges } from "./policy-changes.js";
import { comparePolicy, MAX_RECORDED } from "./policy-compare.js";
import type { PolicyHistory } from "./policy-history.js";
import type { OpenPolicy } from "./ports.js";
import { invalidField } from "./problem.js";
import { BODY_LIMITS, readBody } from "./request-body.js";
import type { RequestBody } from "./request-body.js";

/** Options of {@link addPolicyRoutes}. */
export type PolicyRoutesOptions = {
  readonly policy: OpenPolicy;
  readonly changes: PolicyChanges;
  readonly history: PolicyHistory;
  readonly store: ReceiptStore;
  /** Signs for the operator of a request. */
  actsOf(context: ControlContext): OperatorActs;
  /** The name of this gateway, and of the others of its log, which have policy files of their own. */
  gateways(): Promise<{ readonly gateway: string; readonly others: readonly string[] }>;
};

/** The active policy, candidates, changes and their history. */
export function addPolicyRoutes(app: ControlApp, options: PolicyRoutesOptions): void {
  const { policy, changes, history, store, actsOf } = options;
  const changerOf = (context: ControlContext): PolicyChanger => ({
    acts: actsOf(context),
    source: context.get("operator").csrf === undefined ? "api" : "console",
  });
  app.get("/v1/policy", (context) => {
    const { name, hash, mode, rules, document } = policy.holder.current;
    const { ok, failed, isStale, issues } = policy.reloads;
    const { file } = policy;
    const text = policy.text();
    return context.json({
      name,
      hash,
      mode,
      stale: isStale,
      issues,
      reloads: { ok, failed },
      files: policy.files(),
      ...(file === undefined ? {} : { file }),
      text,
      writable: changes.isWritable,
      lines: linesOfRules(text, rules),
      rules,
      document,
    });
  });
  app.get("/v1/policy/schema", (context) => context.json(POLICY_SCHEMA));
  app.post("/v1/policy/check", async (context) => {
    const body = readBody(await context.req.text(), ["text"]);
    const { policy: candidate, issues } = policy.check(body.text("text", BODY_LIMITS.policy));
    if (candidate === undefined) return context.json({ issues });
    const { hash, mode, rules } = compilePolicy(candidate);
    return context.json({ issues, hash, mode, rules, notes: candidate.notes });
  });
  app.post("/v1/policy/compare", async (context) => {
    const body = readBody(await context.req.text(), ["text", "recorded"]);
    const text = body.text("text", BODY_LIMITS.policy);
    const recorded = body.optionalCount("recorded", MAX_RECORDED) ?? 0;
    const comparison = await comparePolicy(policy, text, recorded, store);
    return context.json(comparison, "issues" in comparison ? 422 : 200);
  });
  app.get("/v1/policy/history", (context) => context.json({ items: history.items }));
  const respond = async (context: ControlContext, result: PolicyChangeResult): Promise<Response> =>
    "issues" in result
      ? context.json({ changed: false, hash: policy.holder.current.hash, ...result }, 422)
      : context.json({ ...result, file: policy.file, ...(await options.gateways()) });
  app.post("/v1/policy/apply", async (context) => {
    const body = readBody(await context.req.text(), ["text", "expect", "comment"]);
    const text = body.text("text", BODY_LIMITS.policy);
    const change = { act: "policy-apply", text, ...commonOf(body) } as const;
    return respond(context, await changes.apply(changerOf(context), change));
  });
  app.post("/v1/policy/rollback", async (context) => {
    const body = readBody(await context.req.text(), ["hash", "expect", "comment"]);
    const change = { hash: body.text("hash", BODY_LIMITS.hash), ...commonOf(body) };
    return respond(context, await changes.rollback(changerOf(context), change));
  });
  app.post("/v1/policy/mode", async (context) => {
    const body = readBody(await context.req.text(), ["block", "mode", "expect", "comment"]);
    const block = body.text("block", BODY_LIMITS.name);
    const mode = body.text("mode", BODY_LIMITS.name);
    if (mode !== "observe" && mode !== "enforce") throw invalidField("mode", "observe or enforce");
    const change = { block, mode, ...commonOf(body) } as const;
    return respond(context, await changes.setMode(changerOf(context), change));
  });
  app.post("/v1/policy/reload", async (context) => {
    const { result, recorded } = changes.reload(changerOf(context));
    await recorded;
    return result.replaced
      ? context.json({ changed: result.changed, hash: result.policy.hash })
      : context.json(
          { changed: false, hash: policy.holder.current.hash, issues: result.issues },
          422,
        );
  });
}

/** The fields of every change: the policy that the operator saw, and why it is changed. */
function commonOf(body: RequestBody): { readonly expect: string; readonly comment?: string } {
  const comment = body.optionalText("comment", BODY_LIMITS.comment);
  return {
    expect: body.text("expect", BODY_LIMITS.hash),
    ...(comment === undefined ? {} : { comment }),
  };
}
