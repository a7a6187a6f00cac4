import type { JsonObject } from "@countersign/core";
import type { ResumeEntry } from "@countersign/wire";
import { isRecord } from "../safe/value.js";
import type { LoweringIssues } from "./issues.js";
import type { LoweringPolicy, ResumeBinding, ResumeDecision } from "./policy.js";

/**
 * Converts answers into decisions of the runtime. Each answer needs an open interrupt of the
 * server, and every open interrupt needs an answer: omitting one does not abandon it.
 */
export function lowerResume(
  entries: readonly ResumeEntry[],
  policy: LoweringPolicy,
  issues: LoweringIssues,
): readonly ResumeDecision[] | undefined {
  const given = policy.defaults?.resume;
  if (entries.length === 0) {
    if (given === undefined && (policy.bindings ?? []).length > 0) {
      issues.refuse("resume-not-covered", "/resume");
    }
    return given;
  }
  if (given !== undefined) {
    issues.refuse("resume-conflict", "/resume");
    return undefined;
  }
  const bindings = new Map((policy.bindings ?? []).map((item) => [item.interruptId, item]));
  const answered = new Set<string>();
  const decisions: ResumeDecision[] = [];
  for (const [index, entry] of entries.entries()) {
    const path = `/resume/${index}`;
    const binding = bindings.get(entry.interruptId);
    if (binding === undefined) issues.refuse("resume-unknown-interrupt", path);
    else if (answered.has(entry.interruptId)) issues.refuse("resume-duplicate", path);
    else {
      answered.add(entry.interruptId);
      const resume = answerOf(entry, binding, policy.now, path, issues);
      if (resume === undefined) continue;
      const { runId, turn, interruptId, gateRef, decisionRef } = binding;
      decisions.push({ runId, turn, interruptId, gateRef, decisionRef, resume });
    }
  }
  if (answered.size < bindings.size) issues.refuse("resume-not-covered", "/resume");
  return decisions;
}

function answerOf(
  entry: ResumeEntry,
  binding: ResumeBinding,
  now: number | undefined,
  path: string,
  issues: LoweringIssues,
): JsonObject | undefined {
  if (entry.status === "cancelled") return { status: "cancelled" };
  // Without a clock an expiry cannot be checked, and undecided means no.
  if (binding.expiresAt !== undefined && !(now !== undefined && now < binding.expiresAt)) {
    issues.refuse("resume-expired", path);
    return undefined;
  }
  const answer = ANSWERS[binding.requestKind](entry.payload);
  if (typeof answer !== "string") return answer;
  issues.refuse(answer, `${path}/payload`);
  return undefined;
}

type Answer = JsonObject | "resume-payload-invalid" | "resume-raw-secret";

/** The valid answers. Other members are not copied. */
const ANSWERS: Record<ResumeBinding["requestKind"], (payload: unknown) => Answer> = {
  approval: (payload) =>
    isRecord(payload) && typeof payload["approved"] === "boolean"
      ? { approved: payload["approved"] }
      : "resume-payload-invalid",
  question: (payload) =>
    isRecord(payload) && isRecord(payload["answers"])
      ? { answers: payload["answers"] as JsonObject }
      : "resume-payload-invalid",
  authorization: (payload) => {
    if (!isRecord(payload)) return "resume-payload-invalid";
    const { material_ref: materialRef, recorded_sealed: sealed } = payload;
    if (typeof materialRef === "string" && materialRef !== "") return { material_ref: materialRef };
    if (isRecord(sealed)) {
      const { ref, codec, version } = sealed;
      const isSealed = typeof ref === "string" && codec === "aead";
      if (isSealed && (typeof version === "string" || typeof version === "number")) {
        return { recorded_sealed: { ref, codec, version } };
      }
    }
    // Anything else would be the secret itself, which must not enter a ledger.
    return "resume-raw-secret";
  },
};
