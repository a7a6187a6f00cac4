import type { CompiledPolicy } from "@countersign/policy";
import type { RunAgentInput } from "@countersign/wire";
import type { LedgerRow } from "../thread/ledger.js";
import { declaredRows } from "../thread/thread-state.js";
import type { ThreadState } from "../thread/thread-state.js";
import { reviewCarried } from "./carried.js";
import { reviewTools } from "./declared-tools.js";
import type { Claim, Finding } from "./finding.js";
import { reviewHistory } from "./history.js";
import { reviewResume } from "./resume.js";
import type { Approval } from "./resume.js";
import { reviewToolResults } from "./tool-results.js";

/** Everything that was found in a request, and what the ledger learns when it is admitted. */
export type InputReview = {
  readonly findings: Finding[];
  readonly rows: LedgerRow[];
  /** What nobody may have said before, when nothing else speaks against the request. */
  readonly claims: readonly Claim[];
  readonly approvals: readonly Approval[];
};

/**
 * Holds a request against what the gateway knows of its thread. Pure: it awaits and changes nothing.
 *
 * @param written keys of its state that its client was not left with; without, all of them
 */
export function reviewInput(
  input: RunAgentInput,
  state: ThreadState,
  { request }: CompiledPolicy,
  now: number,
  written?: readonly string[],
): InputReview {
  const history = reviewHistory(input, state, request.history);
  const results = reviewToolResults(input, history.fresh, state);
  const resume = reviewResume(input, state, now);
  return {
    findings: [
      ...history.findings,
      ...results.findings,
      ...resume.findings,
      ...reviewTools(input, state, request.tools),
      ...reviewCarried(input, request, written),
    ],
    rows: [...history.rows, ...results.rows, ...resume.rows, ...declaredRows(input, state)],
    claims: [...results.claims, ...resume.claims],
    approvals: request.mode("approval") === "off" ? [] : resume.approvals,
  };
}
