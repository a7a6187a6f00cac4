import type { CompiledPolicy, Decision, EventFacts } from "@countersign/policy";
import type { Clock } from "../../base/ports.js";
import type { DeniedCalls } from "../withhold/denied-calls.js";
import type { DecisionResult, DecisionRequest } from "../../event/judge.js";

type Judge = (question: DecisionRequest) => DecisionResult;

/** Denials that say nothing about the call: how much came, and that the tools are closed already. */
const UNCOUNTED = /^(?:ag_ui_tools\.quarantine$|ag_ui\.max_events_per_second$|velocity)/u;

/** Where a call is judged: at its start, or at its end where it was held for its arguments. */
const OPENING: ReadonlySet<string> = new Set(["TOOL_CALL_START", "TOOL_CALL_END"]);

/** Whether an event is one by which a call is judged. */
export function opensCall({ source }: EventFacts): boolean {
  return OPENING.has(source);
}

/** Tells the policy how many calls were denied on the thread lately, and counts those that it denies. */
export function bindQuarantine(
  policy: CompiledPolicy,
  judge: Judge,
  denied: () => DeniedCalls,
  clock: Clock,
): Judge {
  const { quarantineMs } = policy;
  if (quarantineMs === undefined) return judge;
  return (question) => {
    const { facts, isContinuation, isUncounted, isOfCall } = question;
    const isCall = isOfCall === true || opensCall(facts);
    if (isContinuation === true || !isCall) return judge(question);
    const now = clock.now();
    const calls = denied();
    // A part of a held call that is asked about beside it denies the call, but does not open it.
    const judgement =
      isUncounted === true
        ? judge(question)
        : judge({ ...question, deniedCalls: calls.since(now - quarantineMs) });
    if (isDenied(judgement.decision, policy, isUncounted === true)) calls.add(now);
    return judgement;
  };
}

/** In observe mode what would have been denied counts, so that a quarantine is on record as what would have been too. */
function isDenied(decision: Decision, { mode }: CompiledPolicy, isUncounted: boolean): boolean {
  const remark =
    decision.allow && mode === "observe" && !isUncounted ? decision.observed : undefined;
  const denial = decision.allow ? remark : decision;
  return denial !== undefined && !UNCOUNTED.test(denial.rule);
}
