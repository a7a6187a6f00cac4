import type { FeedItem } from "@countersign/core";
import type { Decision, EventFacts } from "@countersign/policy";
import type { InboundRequest } from "../inbound/request.js";
import type { EventContext } from "../event/event-context.js";
import { denialIn } from "../outbound/decide/denial.js";
import type { Run } from "../event/run.js";

/** The facts of input that is not an event. */
const MALFORMED = {
  direction: "outbound",
  eventType: "malformed",
  classification: "mutate",
} as const;

/** The feed item of a recorded event. Assigned field by field and never by spreading: see `createEventContext`. */
export function feedItemOf(run: Run, context: EventContext): FeedItem | undefined {
  const { decision, receiptId, seq, refused } = context;
  const type = refused === undefined ? context.event?.type : "MALFORMED";
  const facts = refused === undefined ? context.facts : undefined;
  if (receiptId === undefined || seq === undefined || decision === undefined) return undefined;
  if (type === undefined || (facts ?? refused) === undefined) return undefined;
  const { direction, eventType, classification } = facts ?? MALFORMED;
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
    type,
    direction,
    event_type: facts?.customName ?? eventType,
    classification,
    allowed: decision.allow,
    received_at: context.receivedAt,
  };
  if (facts !== undefined) return completed(item, facts, decision);
  item.denial_reason = `invalid event: ${refused}`;
  return item;
}

/** Adds the fields that not every decision has: a target, and the rule that blocked or would block. */
function completed(item: FeedItem, facts: EventFacts, decision: Decision): FeedItem {
  if (facts.target !== undefined) item.target = facts.target;
  const denial = denialIn(decision);
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
