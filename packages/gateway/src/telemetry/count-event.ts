import type { Permit } from "@countersign/policy";
import type { InboundRequest } from "../inbound/request.js";
import type { EventContext } from "../event/event-context.js";
import type { Telemetry } from "./telemetry.js";

/** Adds one recorded event to the counters: one look-up and one addition. */
export function countEvent(telemetry: Telemetry, agent: string, context: EventContext): void {
  const { decision, facts } = context;
  if (decision === undefined) return;
  const kind = facts?.classification ?? "malformed";
  if (decision.allow) {
    telemetry.forwarded.add(agent, kind);
    countRules(telemetry, decision, kind);
  } else {
    telemetry.blocked.add(decision.rule, kind);
  }
}

/**
 * Counts the rules that an allowed request violated in observe mode: the operator wants to know
 * what enforcing would block.
 */
export function countObserved(telemetry: Telemetry, { decision, facts }: InboundRequest): void {
  if (decision?.allow !== true || decision.observed === undefined) return;
  countRules(telemetry, decision, facts?.classification ?? "malformed");
}

/** Each rule that would block counts once, since each has to be fixed before enforcing. */
function countRules(telemetry: Telemetry, { observed, further }: Permit, kind: string): void {
  if (observed === undefined) return;
  telemetry.observed.add(observed.rule, kind);
  if (further !== undefined) for (const rule of further) telemetry.observed.add(rule, kind);
}
