import type { JsonObject } from "@countersign/core";
import { classifyEvent } from "@countersign/policy";
import type { CapabilityFacts, Decision } from "@countersign/policy";
import type { AgUiEvent } from "@countersign/wire";
import { UI_RENDER_HINT_NAME, upgradeEnvelope } from "@countersign/wire/dialects";
import type { EventContext } from "../../event/event-context.js";
import type { Run } from "../../event/run.js";
import { UNSOUND } from "../deliver/run-error.js";
import { readsEnvelopes } from "../order/stage.js";
import { isReceiptName } from "../record/receipt-chain.js";
import { withheldDecision } from "./event-checks.js";
import { removesMore } from "./kept-activities.js";
import { isReservedName } from "./reserved-name.js";
import type { Subject } from "./rule.js";

export function hasNothingLeft({ emitted }: Subject): string | undefined {
  return emitted === undefined ? "nothing is left of what the run asks" : undefined;
}

/** Evaluates the policy on the form that leaves, if the list removes a message only because a part of the list is withheld. */
export function removalPolicy({ context, emitted, state }: Subject): Decision | undefined {
  const { run, clientTools } = state;
  const { client, policy } = run;
  if (context.event === undefined || emitted === undefined) return undefined;
  if (!removesMore(context.event, emitted, client)) return undefined;
  const { refinements } = policy;
  const facts = classifyEvent(emitted, { refinements, clientTools, client });
  const { decision } = state.judge({
    facts,
    isPart: true,
    event: emitted as unknown as JsonObject,
  });
  return decision.allow ? undefined : decision;
}

const RESERVED = "the name is reserved for the gateway";

/** A client would take the event for a receipt of the gateway, so observe mode blocks it too. */
export function hasReceiptName({ context }: Subject): string | undefined {
  return isReceiptName(nameOf(context) ?? "") ? RESERVED : undefined;
}

export function hasReservedName({ context }: Subject): string | undefined {
  const name = nameOf(context);
  if (name === undefined || !isReservedName(name)) return undefined;
  // A hint says nothing in the gateway's name: the policy decided about it as the creation of its component.
  if (context.claim === undefined && name === UI_RENDER_HINT_NAME) return undefined;
  return RESERVED;
}

/** The name under which an application would find the event. */
function nameOf({ event, claim }: EventContext): string | undefined {
  if (claim === undefined) return event?.type === "CUSTOM" ? event.name : undefined;
  const type = claim.envelope.event_type;
  return typeof type === "string" ? undefined : type.custom;
}

/**
 * Evaluates the policy on the events that a native client gets for an envelope. The policy decides about an envelope as one event; each of
 * these events must pass by itself.
 */
export function nativeFormPolicy({ context, state }: Subject): Decision | undefined {
  let observed: Decision | undefined;
  for (const event of nativeForm(state.run, context)) {
    const decision =
      withheldDecision(state, event) ?? decideNative(state.run, event, context.capabilityId);
    if (!decision.allow) return decision;
    if (decision.observed !== undefined) observed ??= decision;
  }
  return observed;
}

/** The events that a native client gets for an envelope, without the carrier event that was decided about. */
function nativeForm(run: Run, { claim }: EventContext): readonly AgUiEvent[] {
  if (claim === undefined || readsEnvelopes(run)) return NONE;
  const events = upgradeEnvelope(claim.envelope) as unknown as AgUiEvent[];
  return events.filter(({ type }) => type !== "CUSTOM");
}

const NONE: readonly AgUiEvent[] = [];

/** Evaluates the policy alone: the envelope was counted, and its token spent, with the envelope itself. */
function decideNative(run: Run, event: AgUiEvent, capabilityId: string | undefined): Decision {
  const { policy } = run;
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

/**
 * Gives an event the form that its client accepts. Returns a reason if there is none.
 *
 * This happens before the event is hashed: a receipt names the bytes that leave.
 */
export function isUnsound({ context, state }: Subject): string | undefined {
  const { event, emitted } = context;
  const form = emitted ?? event;
  if (form === undefined) return undefined;
  const sound = state.guard.check(form);
  if (sound === undefined) return UNSOUND.message;
  if (sound !== form) context.emitted = sound;
  return undefined;
}

export function neverEnded(): string {
  return "the tool call was never complete";
}
