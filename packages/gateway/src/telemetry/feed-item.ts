import type { FeedItem } from "@countersign/core";
import type { Decision, EventFacts } from "@countersign/policy";
import type { InboundRequest } from "../inbound/request.js";
import type { EventContext } from "../event/event-context.js";
import type { ClientIdentity } from "../event/client-identity.js";
import { denialIn } from "../outbound/decide/denial.js";
import { addNames, unreadFactsOf } from "../outbound/record/draft.js";
import type { Run } from "../event/run.js";

/** The feed item of a recorded event. Assigned field by field and never by spreading: see `createEventContext`. */
export function feedItemOf(run: Run, context: EventContext): FeedItem | undefined {
  const { decision, receiptId, seq, refused } = context;
  const type = refused === undefined ? context.event?.type : "MALFORMED";
  const facts = refused === undefined ? context.facts : unreadFactsOf(refused);
  if (receiptId === undefined || seq === undefined || decision === undefined) return undefined;
  if (type === undefined || facts === undefined) return undefined;
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
    direction: facts.direction,
    event_type: eventTypeText(facts),
    classification: facts.classification,
    allowed: decision.allow,
    received_at: context.receivedAt,
  };
  completed(item, run.who, facts, decision);
  if (refused !== undefined) item.denial_reason = `invalid event: ${refused}`;
  return item;
}

/** Adds the fields that not every decision has: a target, and the rule that blocked or would block. */
function completed(
  item: FeedItem,
  client: ClientIdentity,
  facts: EventFacts,
  decision: Decision,
): FeedItem {
  if (facts.target !== undefined) item.target = facts.target;
  const denial = denialIn(decision);
  addNames(item, client, facts, denial);
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
    event_type: eventTypeText(facts),
    classification: facts.classification,
    allowed: decision.allow,
    received_at: request.receivedAt,
  };
  return completed(item, request.client, facts, decision);
}

/** The event type as queries of the log spell it. */
function eventTypeText({ eventType, customName }: EventFacts): string {
  return eventType === "custom" ? `custom:${customName ?? "custom"}` : eventType;
}
