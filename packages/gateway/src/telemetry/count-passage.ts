import type { InboundRequest } from "../inbound/request.js";
import type { Passage } from "../pipeline/passage.js";
import type { Telemetry } from "./telemetry.js";

/** Adds one recorded passage to the counters: one look-up and one addition. */
export function countPassage(telemetry: Telemetry, agent: string, passage: Passage): void {
  const { decision, refused, facts } = passage;
  const kind = facts?.classification ?? "malformed";
  if (refused !== undefined || decision === undefined) {
    telemetry.blocked.add("gateway/invalid", kind);
  } else if (decision.allow) {
    telemetry.forwarded.add(agent, kind);
    if (decision.observed !== undefined) telemetry.observed.add(decision.observed.rule, kind);
  } else {
    telemetry.blocked.add(decision.rule, kind);
  }
}

/** Adds what was only noted about a request that may pass: whoever observes wants to know what enforcing would refuse. */
export function countObserved(telemetry: Telemetry, { decision, facts }: InboundRequest): void {
  if (decision?.allow !== true || decision.observed === undefined) return;
  telemetry.observed.add(decision.observed.rule, facts?.classification ?? "malformed");
}
