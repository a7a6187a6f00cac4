import type { JsonObject } from "@countersign/core";
import { classifyEvent } from "@countersign/policy";
import type { CapabilityFacts, Decision, Denial } from "@countersign/policy";
import type { AgUiEvent } from "@countersign/wire";
import { UI_RENDER_HINT_NAME, upgradeEnvelope } from "@countersign/wire/dialects";
import { observing, ownDenial, withheldDenial } from "./structure.js";
import { readsEnvelopes } from "../order/stage.js";
import type { EventContext } from "../../event/event-context.js";
import type { Run } from "../../event/run.js";
import { keysOf } from "../../event/unit.js";
import { isReceiptName } from "../record/receipt-chain.js";
import { isReservedName } from "./reserved-name.js";

/**
 * Evaluates an allowed event once more in the form that its client gets.
 *
 * The policy decides about an envelope as one event. A native client gets other events for it, and each of them must
 * pass by itself. Only the gateway uses the names that are reserved for it.
 */
export function review(run: Run, context: EventContext): Decision | undefined {
  const { decision, part, claim, event } = context;
  if (decision?.allow !== true || part) return decision;
  if (claim === undefined && event?.type !== "CUSTOM") return decision;
  const own = reservedName(run, context);
  if (own !== undefined) {
    // A client would take it for a receipt of the gateway, so it is blocked in observe mode too.
    if (isReceiptName(nameOf(context) ?? "")) return own;
    const verdict = observing(run.policy, own);
    // A rule in observe mode came first, and enforce mode would name that rule.
    return verdict.allow && decision.observed !== undefined ? decision : verdict;
  }
  let remark = decision;
  for (const event of nativeForm(run, context)) {
    const verdict = judge(run, event, context.capabilityId);
    if (!verdict.allow) return verdict;
    if (remark.observed === undefined) remark = verdict;
  }
  return remark.observed === undefined ? decision : remark;
}

function reservedName(run: Run, context: EventContext): Denial | undefined {
  const name = nameOf(context);
  if (name === undefined || !isReservedName(name)) return undefined;
  // A hint says nothing in the gateway's name: it was judged as the creation of its component.
  if (context.claim === undefined && name === UI_RENDER_HINT_NAME) return undefined;
  const reason = "the name is reserved for the gateway";
  return ownDenial("gateway/reserved-name", reason, run.policy.onBlock);
}

/** The name under which an application would find it. */
function nameOf({ event, claim }: EventContext): string | undefined {
  return claim === undefined ? customName(event) : claimedName(claim.envelope.event_type);
}

function customName(event: AgUiEvent | undefined): string | undefined {
  return event?.type === "CUSTOM" ? event.name : undefined;
}

function claimedName(type: string | { custom: string }): string | undefined {
  return typeof type === "string" ? undefined : type.custom;
}

/** The events that a native client gets for an envelope, without the carrier event that was decided about. */
function nativeForm(run: Run, { claim }: EventContext): AgUiEvent[] {
  if (claim === undefined || readsEnvelopes(run)) return [];
  const events = upgradeEnvelope(claim.envelope) as unknown as AgUiEvent[];
  return events.filter(({ type }) => type !== "CUSTOM");
}

/** Asks the policy alone: the envelope was counted, and its token spent, when it was judged itself. */
function judge(run: Run, event: AgUiEvent, capabilityId: string | undefined): Decision {
  const { policy } = run;
  for (const key of keysOf(event)) {
    const why = run.withheld.find(key);
    if (why !== undefined) return observing(policy, withheldDenial(why));
  }
  return policy.evaluate({
    event: classifyEvent(event, { refinements: policy.refinements }),
    transport: run.sink.transport,
    counters: { eventsInSecond: 0, velocity: new Float64Array(policy.limits.velocity.length) },
    capability: capabilityId === undefined ? undefined : granted(capabilityId),
    variables: {
      event: event as unknown as JsonObject,
      session: { id: run.sessionId, agent: run.agent },
    },
  });
}

const EVERY_SCOPE: readonly string[] = ["ui:*:*"];

/** The token covers the envelope, so it covers its parts; conditions on its claims fail, and so block. */
function granted(id: string): CapabilityFacts {
  return { id, status: "valid", scopes: EVERY_SCOPE };
}
