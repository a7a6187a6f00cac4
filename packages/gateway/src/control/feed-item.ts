import type { Classification, Target } from "@countersign/policy";
import type { Passage } from "../pipeline/passage.js";
import type { Run } from "../pipeline/run.js";

/** One decision as the live feed shows it; never a payload. */
export type FeedItem = {
  seq: number;
  receipt_id: string;
  /** The AG-UI event type, or `RUN_AGENT_INPUT` for a request. */
  type: string;
  direction: "outbound" | "inbound";
  agent_id: string;
  session_id: string;
  thread_id: string;
  run_id: string;
  event_type: string;
  classification: Classification;
  target?: Target;
  allowed: boolean;
  mode: "observe" | "enforce";
  rule?: string;
  denial_reason?: string;
  received_at: number;
  forwarded: number;
  blocked: number;
};

/** What the feed tells about a recorded passage. */
export function feedItemOf(run: Run, passage: Passage): FeedItem | undefined {
  const { event, facts, decision, receiptId, seq, refused } = passage;
  if (refused !== undefined && receiptId !== undefined && seq !== undefined) {
    return {
      ...placeOf(run),
      seq,
      receipt_id: receiptId,
      type: "MALFORMED",
      direction: "outbound",
      event_type: "malformed",
      classification: "mutate",
      allowed: false,
      denial_reason: `invalid event: ${refused}`,
      received_at: passage.receivedAt,
    };
  }
  if (event === undefined || facts === undefined || decision === undefined) return undefined;
  if (receiptId === undefined || seq === undefined) return undefined;
  const denial = decision.allow ? decision.observed : decision;
  return {
    ...placeOf(run),
    seq,
    receipt_id: receiptId,
    type: event.type,
    direction: facts.direction,
    event_type: facts.customName ?? facts.eventType,
    classification: facts.classification,
    ...(facts.target === undefined ? {} : { target: facts.target }),
    allowed: decision.allow,
    ...(denial === undefined ? {} : { rule: denial.rule, denial_reason: denial.reason }),
    received_at: passage.receivedAt,
  };
}

function placeOf(run: Run) {
  return {
    agent_id: run.agent,
    session_id: run.sessionId,
    thread_id: run.threadId,
    run_id: run.runId,
    mode: run.policy.mode,
    forwarded: run.counters.forwarded,
    blocked: run.counters.blocked,
  };
}
