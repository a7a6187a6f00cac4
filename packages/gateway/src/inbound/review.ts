import type { CompiledPolicy, MatchedRequest } from "@countersign/policy";
import type { RunAgentInput } from "@countersign/wire";
import type { StoredRow } from "../store/keyed-store.js";
import { declaredRows } from "../thread/thread-state.js";
import type { ThreadState } from "../thread/thread-state.js";
import { reviewClientData } from "./client-data.js";
import { isMatchedAppRequest, reviewClicks } from "./clicks.js";
import { reviewTools } from "./declared-tools.js";
import type { AnswerClaim, Finding } from "./finding.js";
import { reviewHistory } from "./history.js";
import { reviewAnswers } from "./interrupt-answers.js";
import type { Approval } from "./interrupt-answers.js";
import { reviewToolResults } from "./tool-results.js";

/** The findings of a request, and the rows for the ledger if it is admitted. */
export type InputReview = {
  readonly findings: Finding[];
  readonly rows: StoredRow[];
  /** Rows that only one gateway can write, if nothing else refuses the request. */
  readonly claims: readonly AnswerClaim[];
  readonly approvals: readonly Approval[];
  /** Clicks and requests of apps, compared with what the thread was shown. */
  readonly surfaceRequests: readonly MatchedRequest[];
  /** The request says nothing new, so the open interrupts stay open. */
  readonly keepsInterrupts: boolean;
};

/**
 * Compares a request with its thread. Pure: it awaits nothing and changes nothing.
 *
 * @param written the keys of the state that the client changed; if absent, all of them
 */
export function reviewInput(
  input: RunAgentInput,
  state: ThreadState,
  policy: CompiledPolicy,
  now: number,
  written?: readonly string[],
): InputReview {
  const { request } = policy;
  const history = reviewHistory(input, state, request.history);
  const results = reviewToolResults(input, history.fresh, state);
  const clicks = reviewClicks(input, state, policy);
  // An app speaks to its server, not to the agent.
  const isOfApp = clicks.findings.length === 0 && isMatchedAppRequest(clicks.requests);
  const keepsInterrupts = history.fresh.length === 0 && saysNothing(input, written, isOfApp);
  const resume = reviewAnswers(input, state, now, keepsInterrupts);
  return {
    findings: [
      ...history.findings,
      ...results.findings,
      ...resume.findings,
      ...reviewTools(input, state, request.tools),
      ...reviewClientData(input, request, written),
      ...clicks.findings,
    ],
    rows: [
      ...history.rows,
      ...results.rows,
      ...resume.rows,
      ...declaredRows(input, state),
      ...clicks.rows,
    ],
    claims: [...results.claims, ...resume.claims, ...clicks.claims],
    surfaceRequests: clicks.requests,
    approvals: request.mode("approval") === "off" ? [] : resume.approvals,
    keepsInterrupts,
  };
}

/**
 * Whether a request gives the agent nothing to act on: no answer, no change of the state and no property, which some
 * agents read as an answer. A page that was reloaded sends such a request.
 */
function saysNothing(
  { resume = [], state, forwardedProps }: RunAgentInput,
  written: readonly string[] | undefined,
  isOfApp: boolean,
): boolean {
  const isOnlyApp = isOfApp && Object.keys(forwardedProps ?? {}).length === 1;
  if (resume.length > 0 || (!isEmpty(forwardedProps) && !isOnlyApp)) return false;
  return written === undefined ? isEmpty(state) : written.length === 0;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}
