import type { FeedItem } from "@countersign/core";
import type { Decision, EventFacts } from "@countersign/policy";
import type { InboundRequest } from "../inbound/request.js";
import type { EventContext } from "../event/event-context.js";
import type { Run } from "../event/run.js";

/**
 * The feed item of a recorded event. Assigned field by field and never by spreading: see
 * `createEventContext`.
 */
export function feedItemOf(run: Run, context: EventContext): FeedItem | undefined {
  const { event, facts, decision, receiptId, seq, refused } = context;
  if (receiptId === undefined || seq === undefined) return undefined;
  if (refused !== undefined) return malformedItem(run, context.receivedAt, seq, receiptId, refused);
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
    received_at: context.receivedAt,
  };
  return completed(item, facts, decision);
}

/**
 * Adds the fields that not every decision has: a target, and the rule that blocked or would block.
 */
function completed(item: FeedItem, facts: EventFacts, decision: Decision): FeedItem {
  if (facts.target !== undefined) item.target = facts.target;
  const denial = decision.allow ? decision.observed : decision;
  if (denial !== undefined) {
    item.rule = denial.rule;
    item.denial_reason = denial.reason;
  }
  if (decision.allow && decision.further !== undefined) item.further_rules = decision.further;
  return item;
}

/** The feed item of a recorded client request. */
export function inboundItemOf(request: InboundRequest): FeedItem {
  const { facts, decision, receiptId, seq, input } = request;
  if (!facts || !decision || receiptId === undefined || seq === undefined) {
    throw new TypeError("a request is shown after it was recorded");
  }
  const item: FeedItem = {
    agent_id: request.agent,
    session_id: request.sessionId,
    // A message on a socket belongs to the run that is open there.
    thread_id: input?.threadId ?? "",
    run_id: input?.runId ?? "",
    mode: request.policy.mode,
    forwarded: 0,
    blocked: 0,
    seq,
    receipt_id: receiptId,
    type: request.kind === "input" ? "RUN_AGENT_INPUT" : "CLIENT_MESSAGE",
    direction: facts.direction,
    event_type: facts.customName ?? facts.eventType,
    classification: facts.classification,
    allowed: decision.allow,
    received_at: request.receivedAt,
  };
  return completed(item, facts, decision);
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
