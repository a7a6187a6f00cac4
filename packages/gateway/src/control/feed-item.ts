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

/** What the feed tells about a recorded passage. Member by member and never by spreading: see `createPassage`. */
export function feedItemOf(run: Run, passage: Passage): FeedItem | undefined {
  const { event, facts, decision, receiptId, seq, refused } = passage;
  if (receiptId === undefined || seq === undefined) return undefined;
  if (refused !== undefined) return malformedItem(run, passage.receivedAt, seq, receiptId, refused);
  if (event === undefined || facts === undefined || decision === undefined) return undefined;
  const item: FeedItem = {
    agent_id: run.agent,
    session_id: run.sessionId,
    thread_id: run.threadId,
    run_id: run.runId,
    mode: run.policy.mode,
    forwarded: run.counters.forwarded,
    blocked: run.counters.blocked,
    seq,
    receipt_id: receiptId,
    type: event.type,
    direction: facts.direction,
    event_type: facts.customName ?? facts.eventType,
    classification: facts.classification,
    allowed: decision.allow,
    received_at: passage.receivedAt,
  };
  if (facts.target !== undefined) item.target = facts.target;
  const denial = decision.allow ? decision.observed : decision;
  if (denial !== undefined) {
    item.rule = denial.rule;
    item.denial_reason = denial.reason;
  }
  return item;
}

function malformedItem(
  run: Run,
  receivedAt: number,
  seq: number,
  receiptId: string,
  code: string,
): FeedItem {
  return {
    agent_id: run.agent,
    session_id: run.sessionId,
    thread_id: run.threadId,
    run_id: run.runId,
    mode: run.policy.mode,
    forwarded: run.counters.forwarded,
    blocked: run.counters.blocked,
    seq,
    receipt_id: receiptId,
    type: "MALFORMED",
    direction: "outbound",
    event_type: "malformed",
    classification: "mutate",
    allowed: false,
    denial_reason: `invalid event: ${code}`,
    received_at: receivedAt,
  };
}
