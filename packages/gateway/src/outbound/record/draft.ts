import { canonicalJson, sha256Hex } from "@countersign/core";
import type { JsonValue, NamedEventType } from "@countersign/core";
import type { Decision, Denial, EventFacts, PolicyMode } from "@countersign/policy";
import { NO_CAPABILITY } from "@countersign/receipts";
import type { TextDraft } from "@countersign/receipts/log";
import type { DecisionDraft } from "../../event/recorder.js";
import { boundedName } from "../../event/client-identity.js";
import type { ClientIdentity } from "../../event/client-identity.js";
import type { ReceiptTransport } from "../../event/sink.js";
import type { EventContext } from "../../event/event-context.js";
import { denialIn } from "../decide/denial.js";
import { isRunLimit } from "../../event/run-limits.js";
import type { Run } from "../../event/run.js";

/** The facts of input that cannot be parsed: nothing is known about it. */
const UNREADABLE: EventFacts = {
  source: "RAW",
  direction: "outbound",
  eventType: "custom",
  customName: "invalid event",
  classification: "mutate",
  derived: "mutate",
};

const OVER_LIMIT: EventFacts = { ...UNREADABLE, customName: "run limit" };

/** The facts of input that was refused with an error code. */
export function unreadFactsOf(refused: string): EventFacts {
  return isRunLimit(refused) ? OVER_LIMIT : UNREADABLE;
}

/** The log entry of one decision: hashes and names, never a payload. */
export function draftOf(run: Run, context: EventContext): DecisionDraft {
  const { event, facts, claim, emitted, refused } = context;
  if (refused !== undefined) {
    // The error code, and nothing of the input.
    return entryFor(
      run,
      context,
      unreadFactsOf(refused),
      run.mintId("event"),
      canonicalJson({ refused }),
    );
  }
  if (event === undefined || facts === undefined) throw undecided();
  const envelope = claim?.envelope;
  const text = canonicalJson((envelope?.payload ?? event) as JsonValue);
  const draft = entryFor(run, context, facts, envelope?.event_id ?? run.mintId("event"), text);
  if (emitted !== undefined) {
    context.text = canonicalJson(emitted as JsonValue);
    draft.emitted_hash = sha256Hex(context.text);
    draft.emitted_text = context.text;
  } else if (envelope === undefined) context.text = text;
  return draft;
}

function undecided(): TypeError {
  return new TypeError("an event is recorded after it was decided");
}

/** The gateway sets the agent and the time: an agent could otherwise sign for another. */
function entryFor(
  run: Run,
  { decision, capabilityId, receivedAt }: EventContext,
  facts: EventFacts,
  eventId: string,
  payloadText: string,
): WritableDraft {
  if (decision === undefined) throw undecided();
  const draft = entryOf({
    facts,
    decision,
    capabilityId,
    receivedAt,
    eventId,
    agentId: run.agent,
    sessionId: run.sessionId,
    client: run.who,
    transport: run.sink.transport,
    payloadText,
    policyHash: run.policy.hash,
    mode: run.policy.mode,
  });
  draft.run_id = run.runId;
  draft.thread_id = run.threadId;
  return draft;
}

type EntryParts = {
  facts: EventFacts;
  decision: Decision;
  capabilityId: string | undefined;
  receivedAt: number;
  eventId: string;
  agentId: string;
  sessionId: string;
  client: ClientIdentity;
  transport: ReceiptTransport;
  payloadText: string;
  policyHash: string;
  mode: PolicyMode;
};

type Writable<Value> = { -readonly [Member in keyof Value]: Value[Member] };
type WritableDraft = Writable<TextDraft & Pick<DecisionDraft, "facts" | "emitted_text">>;

/** Lists each member instead of spreading: see `createEventContext`. */
export function entryOf(parts: EntryParts): WritableDraft {
  const { facts, decision } = parts;
  const receipt: Writable<TextDraft["receipt"]> = {
    timestamp: Math.floor(parts.receivedAt / 1000),
    event_id: parts.eventId,
    agent_id: parts.agentId,
    session_id: parts.sessionId,
    capability_id: parts.capabilityId ?? NO_CAPABILITY,
    event_type: eventTypeOf(facts),
    classification: facts.classification,
    transport: parts.transport,
    allowed: decision.allow,
  };
  if (facts.target !== undefined) receipt.target = facts.target;
  if (!decision.allow) receipt.denial_reason = decision.reason;
  const draft: WritableDraft = {
    facts,
    receipt,
    payload_text: parts.payloadText,
    direction: facts.direction,
    policy_hash: parts.policyHash,
    mode: parts.mode,
    received_at: parts.receivedAt,
  };
  // A rule in observe mode does not block: the receipt says allowed, and the entry names the rule.
  const denial = denialIn(decision);
  if (denial !== undefined) draft.rule = denial.rule;
  addNames(draft, parts.client, facts, denial);
  if (decision.allow && decision.further !== undefined) draft.further_rules = [...decision.further];
  return draft;
}

/** The members of an entry, or of a feed item, that say who and what. */
export type EntryNames = {
  principal?: string;
  client_address?: string;
  tool?: string;
  path?: string;
};

/** Adds who and what, one member after the other: see `createEventContext`. */
export function addNames(
  to: EntryNames,
  { principal, client_address }: ClientIdentity,
  facts: EventFacts,
  denial: Denial | undefined,
): void {
  if (principal !== undefined) to.principal = principal;
  if (client_address !== undefined) to.client_address = client_address;
  const tool = denial?.tool ?? toolOf(facts);
  if (tool !== undefined) to.tool = boundedName(tool);
  const path = denial?.path;
  if (path !== undefined) to.path = boundedName(path);
}

/** The tool of an event that is about one tool. */
function toolOf({ toolCalls: calls }: EventFacts): string | undefined {
  if (calls === undefined) return undefined;
  const name = calls[0]?.name;
  return calls.length === 1 || calls.every((call) => call.name === name) ? name : undefined;
}

function eventTypeOf({ eventType, customName }: EventFacts): NamedEventType {
  return eventType === "custom" ? { custom: customName ?? "custom" } : eventType;
}
