import type { JsonObject } from "@countersign/core";
import type { CompiledPolicy, Denial } from "@countersign/policy";
import type { Judgement, Question } from "../decide/judge.js";
import { ownDenial } from "../decide/structure.js";
import { digestOfValue } from "../ledger/digest.js";
import type { ThreadState } from "../ledger/thread-state.js";
import type { Approval } from "./resume.js";

/** The rule that blocks a call other than the one the person was shown. */
export const APPROVAL_RULE = "gateway/approval";

type Judge = (question: Question) => Judgement;

/**
 * Binds the calls of a resumed run to the answers that resumed it: of a tool that a person was asked
 * about, the agent may make the call they were shown, and no other. Its calls are held until they are
 * whole, since what is compared are the arguments.
 */
export function bindApprovals(
  policy: CompiledPolicy,
  judge: Judge,
  approvals: readonly Approval[],
  state: ThreadState,
): { policy: CompiledPolicy; judge: Judge } {
  if (approvals.length === 0) return { policy, judge };
  const names = new Set(approvals.map(({ name }) => name));
  const earlier = new Set(state.calls.keys());
  const observes = policy.request.mode("approval") === "observe";
  return {
    policy: {
      ...policy,
      needsArguments: (name) => names.has(name) || policy.needsArguments(name),
    },
    judge: (question) => {
      const judgement = judge(question);
      const denial = otherCall(question, approvals, names, earlier, policy);
      if (denial === undefined || !judgement.decision.allow) return judgement;
      return observes
        ? { ...judgement, decision: { allow: true, observed: denial } }
        : { ...judgement, decision: denial };
    },
  };
}

function otherCall(
  { facts, event }: Question,
  approvals: readonly Approval[],
  names: ReadonlySet<string>,
  earlier: ReadonlySet<string>,
  { onBlock }: CompiledPolicy,
): Denial | undefined {
  if (facts.source !== "TOOL_CALL_START" && facts.source !== "TOOL_CALL_END") return undefined;
  const [call] = facts.toolCalls ?? [];
  if (call === undefined || !names.has(call.name)) return undefined;
  // What was delivered before the person answered is history; it cannot be opened again anyway.
  const { toolCallId } = (event ?? {}) as JsonObject & { toolCallId?: string };
  if (toolCallId !== undefined && earlier.has(toolCallId)) return undefined;
  if (call.state === "partial" && facts.source === "TOOL_CALL_START") return undefined;
  const digest = call.state === "whole" ? digestOfValue(call.arguments ?? {}) : undefined;
  const match = approvals.find(
    ({ name, arguments: shown }) => name === call.name && shown === digest,
  );
  if (match?.isGranted === true) return undefined;
  const reason =
    match === undefined
      ? "the call differs from the one the person was shown"
      : "the person declined this call";
  return ownDenial(APPROVAL_RULE, reason, onBlock);
}
