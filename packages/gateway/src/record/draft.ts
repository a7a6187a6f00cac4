import { canonicalJson, sha256Hex } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { Decision, EventFacts, PolicyMode } from "@countersign/policy";
import { NO_CAPABILITY } from "@countersign/receipts";
import type { ReceiptEventType } from "@countersign/receipts";
import type { EntryDraft } from "@countersign/receipts/log";
import type { ReceiptTransport } from "../clients/sink.js";
import { ownDenial } from "../decide/structure.js";
import { assertInput } from "../inbound/request.js";
import type { InboundRequest } from "../inbound/request.js";
import type { Passage } from "../pipeline/passage.js";
import type { Run } from "../pipeline/run.js";

/** What the log is told about one decision: hashes and names, never a payload. */
export function draftOf(run: Run, passage: Passage): EntryDraft {
  const { event, facts, decision, claim, emitted, capabilityId, refused } = passage;
  if (refused !== undefined) return refusalOf(run, refused, passage.receivedAt);
  if (event === undefined || facts === undefined || decision === undefined) {
    throw new TypeError("an event is recorded after it was decided");
  }
  const envelope = claim?.envelope;
  return {
    ...entryOf({
      facts,
      decision,
      capabilityId,
      receivedAt: passage.receivedAt,
      // Who speaks and when is never the agent's to say: it would sign for others.
      timestamp: Math.floor(passage.receivedAt / 1000),
      eventId: envelope?.event_id ?? run.mintId("event"),
      agentId: run.agent,
      sessionId: run.sessionId,
      transport: run.sink.transport,
      payload: (envelope?.payload ?? event) as JsonValue,
      policyHash: run.policy.hash,
      mode: run.policy.mode,
    }),
    run_id: run.runId,
    thread_id: run.threadId,
    ...(emitted === undefined ? {} : { emitted_hash: hashOf(emitted as JsonValue) }),
  };
}

/** What the facts of something are that nobody could read: nothing is known, so nothing is assumed of it. */
const UNREADABLE: EventFacts = {
  source: "RAW",
  direction: "outbound",
  eventType: "custom",
  customName: "invalid event",
  classification: "mutate",
  derived: "mutate",
};

/** Something malformed leaves a trace too: its code, and nothing of what it was. */
function refusalOf(run: Run, code: string, receivedAt: number): EntryDraft {
  return {
    ...entryOf({
      facts: UNREADABLE,
      decision: ownDenial("gateway/invalid", `invalid event: ${code}`),
      capabilityId: undefined,
      receivedAt,
      timestamp: Math.floor(receivedAt / 1000),
      eventId: run.mintId("event"),
      agentId: run.agent,
      sessionId: run.sessionId,
      transport: run.sink.transport,
      payload: { refused: code },
      policyHash: run.policy.hash,
      mode: run.policy.mode,
    }),
    run_id: run.runId,
    thread_id: run.threadId,
  };
}

/** What the log is told about a browser's request. */
export function inboundDraftOf(request: InboundRequest): EntryDraft {
  const { facts, decision, capabilityId } = request;
  if (facts === undefined || decision === undefined) {
    throw new TypeError("a request is recorded after it was decided");
  }
  const { message } = request;
  const input = message === undefined ? assertInput(request) : undefined;
  return {
    ...entryOf({
      facts,
      decision,
      capabilityId,
      receivedAt: request.receivedAt,
      timestamp: Math.floor(request.receivedAt / 1000),
      eventId: message?.envelope.event_id ?? request.mintId("event"),
      agentId: request.agent,
      sessionId: request.sessionId,
      transport: request.transport,
      payload: (input ?? message?.envelope.payload ?? null) as unknown as JsonValue,
      policyHash: request.policy.hash,
      mode: request.policy.mode,
    }),
    ...(input === undefined ? {} : { run_id: input.runId, thread_id: input.threadId }),
  };
}

type EntryParts = {
  facts: EventFacts;
  decision: Decision;
  capabilityId: string | undefined;
  receivedAt: number;
  timestamp: number;
  eventId: string;
  agentId: string;
  sessionId: string;
  transport: ReceiptTransport;
  payload: JsonValue;
  policyHash: string;
  mode: PolicyMode;
};

function entryOf(parts: EntryParts): EntryDraft {
  const { facts, decision } = parts;
  // A rule in observe mode blocks nothing: the receipt says allowed, the entry names the rule.
  const rule = decision.allow ? decision.observed?.rule : decision.rule;
  return {
    receipt: {
      timestamp: parts.timestamp,
      event_id: parts.eventId,
      agent_id: parts.agentId,
      session_id: parts.sessionId,
      capability_id: parts.capabilityId ?? NO_CAPABILITY,
      event_type: eventTypeOf(facts),
      ...(facts.target === undefined ? {} : { target: facts.target }),
      classification: facts.classification,
      transport: parts.transport,
      allowed: decision.allow,
      ...(decision.allow ? {} : { denial_reason: decision.reason }),
      payload_hash: hashOf(parts.payload),
    },
    direction: facts.direction,
    policy_hash: parts.policyHash,
    mode: parts.mode,
    ...(rule === undefined ? {} : { rule }),
    received_at: parts.receivedAt,
  };
}

function hashOf(value: JsonValue): string {
  return sha256Hex(canonicalJson(value));
}

function eventTypeOf({ eventType, customName }: EventFacts): ReceiptEventType {
  return eventType === "custom" ? { custom: customName ?? "custom" } : eventType;
}
