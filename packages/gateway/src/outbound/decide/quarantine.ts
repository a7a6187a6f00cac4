import type { CompiledPolicy, Decision, EventFacts } from "@countersign/policy";
import type { DecisionResult, DecisionRequest } from "../../event/judge.js";
import type { Run } from "../../event/run.js";
import { denialIn } from "./denial.js";

type Judge = (request: DecisionRequest) => DecisionResult;

/** Denials that do not count: rate limits, and the quarantine itself. */
const UNCOUNTED = /^(?:ag_ui_tools\.quarantine$|ag_ui\.max_events_per_second$|velocity)/u;

/** The events at which a call is judged: its start, or its end if it was held for its arguments. */
const OPENING: ReadonlySet<string> = new Set(["TOOL_CALL_START", "TOOL_CALL_END"]);

/** Whether a call is judged at this event. */
export function opensCall({ source }: EventFacts): boolean {
  return OPENING.has(source);
}

/** Passes the number of recently denied calls of the thread to the policy, and counts the calls that it denies. */
export function bindQuarantine({ policy, deniedCalls, clock }: Run, judge: Judge): Judge {
  const { quarantineMs } = policy;
  if (quarantineMs === undefined || deniedCalls === undefined) return judge;
  return (request) => {
    const { facts, isContinuation, isUncounted, isOfCall } = request;
    const isCall = isOfCall === true || opensCall(facts);
    if (isContinuation === true || !isCall) return judge(request);
    const now = clock.now();
    const calls = deniedCalls();
    // A denial of a part of a held call denies the call; an allowed part does not open it.
    const result =
      isUncounted === true
        ? judge(request)
        : judge({ ...request, deniedCalls: calls.since(now - quarantineMs) });
    if (isDenied(result.decision, policy, isUncounted === true)) calls.add(now);
    return result;
  };
}

/** In observe mode calls that would have been denied count, so that receipts show the quarantine that enforce mode would cause. */
function isDenied(decision: Decision, { mode }: CompiledPolicy, isUncounted: boolean): boolean {
  if (decision.allow && (mode !== "observe" || isUncounted)) return false;
  const denial = denialIn(decision);
  return denial !== undefined && !UNCOUNTED.test(denial.rule);
}
