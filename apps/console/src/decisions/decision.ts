import type { Entry, FeedItem } from "../api/responses.js";
import { verdictOf } from "../api/verdict.js";
import type { Verdict } from "../api/verdict.js";

/** One decision, of the live feed or of the log. A text that it does not have is empty. */
export type Decision = {
  readonly seq: number;
  readonly id: string;
  readonly received_at: number;
  readonly verdict: Verdict;
  /** The AG-UI event type in the feed; the log keeps the kind of event. */
  readonly type: string;
  readonly event_type: string;
  readonly classification: string;
  readonly direction: string;
  readonly mode: string;
  readonly principal: string;
  readonly client_address: string;
  readonly agent_id: string;
  readonly session_id: string;
  readonly thread_id: string;
  readonly run_id: string;
  readonly tool: string;
  readonly path: string;
  readonly target_type: string;
  readonly target_id: string;
  readonly rule: string;
  readonly further_rules: readonly string[];
  readonly denial_reason: string;
  readonly capability_id: string;
  readonly transport: string;
  /** The decision as the API sent it. */
  readonly source: Entry | FeedItem;
};

/** The text columns of a decision, by the names of the API. */
export type DecisionField = {
  [Name in keyof Decision]: Decision[Name] extends string ? Name : never;
}[keyof Decision];

/** A decision of the live feed. */
export function decisionOfItem(item: FeedItem): Decision {
  return {
    seq: item.seq,
    id: item.receipt_id,
    received_at: item.received_at,
    verdict: verdictOf(item),
    type: item.type,
    event_type: item.event_type,
    classification: item.classification,
    direction: item.direction,
    mode: item.mode,
    principal: item.principal ?? "",
    client_address: item.client_address ?? "",
    agent_id: item.agent_id,
    session_id: item.session_id,
    thread_id: item.thread_id,
    run_id: item.run_id,
    tool: item.tool ?? "",
    path: item.path ?? "",
    target_type: item.target?.component_type ?? "",
    target_id: item.target?.component_id ?? "",
    rule: item.rule ?? "",
    further_rules: item.further_rules ?? [],
    denial_reason: item.denial_reason ?? "",
    capability_id: "",
    transport: "",
    source: item,
  };
}

/** A decision of the log. */
export function decisionOfEntry(entry: Entry): Decision {
  const { receipt } = entry;
  const type = eventTypeOf(entry);
  return {
    seq: entry.seq,
    id: receipt.id,
    received_at: entry.received_at,
    verdict: verdictOf({ allowed: receipt.allowed, rule: entry.rule }),
    type,
    event_type: type,
    classification: receipt.classification,
    direction: entry.direction,
    mode: entry.mode,
    principal: entry.principal ?? "",
    client_address: entry.client_address ?? "",
    agent_id: receipt.agent_id,
    session_id: receipt.session_id ?? "",
    thread_id: entry.thread_id ?? "",
    run_id: entry.run_id ?? "",
    tool: entry.tool ?? "",
    path: entry.path ?? "",
    target_type: receipt.target?.component_type ?? "",
    target_id: receipt.target?.component_id ?? "",
    rule: entry.rule ?? "",
    further_rules: entry.further_rules ?? [],
    denial_reason: receipt.denial_reason ?? "",
    capability_id: receipt.capability_id === "<none>" ? "" : receipt.capability_id,
    transport: receipt.transport,
    source: entry,
  };
}

/** The event type as the API filters it: a custom one with its prefix. */
function eventTypeOf({ receipt: { event_type: type } }: Entry): string {
  return typeof type === "string" ? type : `custom:${type.custom}`;
}

/** The part of the screen or of the state that the event was about. */
export function placeOf({ path, target_type: type, target_id: id }: Decision): string {
  if (path !== "") return path;
  return id === "" ? type : `${type}:${id}`;
}

/** The agent of entries about actions of operators; no agent can have this name. */
const OPERATOR_AGENT = "<operator>";

/** The operator of an action; `undefined` for an event. */
export function operatorOf({ agent_id: agent, target_id: name }: Decision): string | undefined {
  return agent === OPERATOR_AGENT ? name : undefined;
}
