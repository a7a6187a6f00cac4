import { CAPABILITY_STATUSES } from "@countersign/core";
import type { CapabilityStatus } from "@countersign/core";
import type { Aspect, EventFacts } from "../classify/facts.js";
import type { AgUiBlock, InboundBlock, OnBlock, PolicyDocument } from "../document/model.js";
import type { Classification } from "../vocabulary/classification.js";
import {
  CLASSIFICATION_BIT,
  CLASSIFICATION_TITLE,
  CLASSIFICATIONS,
  classificationBits,
} from "../vocabulary/classification.js";
import { formatTarget } from "../vocabulary/target.js";
import { reasonOfStatus } from "./capability-status.js";
import type { Denial } from "./decision.js";
import type { CapabilityFacts, DecisionFacts } from "./facts.js";
import type { PolicyRuleId } from "./rule-meanings.js";
import type { DenialMaker, Rule } from "./rule.js";
import { blockSettings, denials, isActive } from "./rule.js";
import { scopeSetOf } from "./scope-set.js";

/** The default restricted classes: everything except display, alert included. */
export const DEFAULT_RESTRICTED: readonly Classification[] = CLASSIFICATIONS.filter(
  (name) => name !== "display",
);

/** The classes that need a token, in either direction. */
export function compileCapabilityRules(document: PolicyDocument, block: AgUiBlock): Rule[] {
  const restricted = classificationBits(block.restricted_classifications ?? DEFAULT_RESTRICTED);
  const open = block.allow_display_without_capability === true;
  const inbound: InboundBlock | undefined = document.rules.ag_ui_inbound;
  const rules = [outboundRule(document, block, restricted, open, !isActive(inbound))];
  if (isActive(inbound)) rules.push(inboundRule(document, inbound, restricted, open));
  return rules;
}

function outboundRule(
  document: PolicyDocument,
  block: AgUiBlock,
  restricted: number,
  open: boolean,
  bothDirections: boolean,
): Rule {
  const { mode, onBlock } = blockSettings(document, block);
  const gate = createGate("ag_ui.capability", onBlock);
  return {
    id: "ag_ui.capability",
    block: "ag_ui",
    mode,
    perAspect: true,
    check(facts, aspect) {
      if (facts.event.direction === "inbound" && !bothDirections) return undefined;
      const closed = bitsOf(aspect) & restricted;
      if (closed !== 0) return gate.scoped(facts, aspect, closed);
      return open ? undefined : gate.present(facts);
    },
    saw,
  };
}

function inboundRule(
  document: PolicyDocument,
  block: InboundBlock,
  restricted: number,
  open: boolean,
): Rule {
  const { mode, onBlock } = blockSettings(document, block);
  const gate = createGate("ag_ui_inbound", onBlock);
  const allowed = classificationBits(block.allow_classifications ?? []);
  const blocking = block.default !== "allow";
  return {
    id: "ag_ui_inbound",
    block: "ag_ui_inbound",
    mode,
    perAspect: true,
    check(facts, aspect) {
      if (facts.event.direction !== "inbound") return undefined;
      const unlisted = bitsOf(aspect) & ~allowed;
      if (unlisted === 0) return undefined;
      const closed = blocking ? unlisted : unlisted & restricted;
      if (closed !== 0) return gate.scoped(facts, aspect, closed);
      return open ? undefined : gate.present(facts);
    },
    saw,
  };
}

const BITS: ReadonlyMap<string, number> = new Map(Object.entries(CLASSIFICATION_BIT));

// A claim may raise the class, but must not move an event out of a restricted one: both count. An
// unknown class has no bit that a policy could have left open.
function bitsOf(aspect: Aspect): number {
  const effective = BITS.get(aspect.classification);
  const derived = BITS.get(aspect.derived);
  if (effective === undefined || derived === undefined) throw new TypeError("unknown class");
  return effective | derived;
}

type Gate = {
  /** A valid token whose scopes cover the event, in each of its closed classes (as bits). */
  scoped(facts: DecisionFacts, aspect: Aspect, closed: number): Denial | undefined;
  /** Any valid token. */
  present(facts: DecisionFacts): Denial | undefined;
};

function createGate(rule: PolicyRuleId, onBlock: OnBlock): Gate {
  const make = denials(rule, onBlock);
  const missing = make("capability_missing", "no capability token provided");
  const unauthorized = make(
    "scope_not_authorized",
    "capability scope does not authorize this AG-UI event",
  );
  const required = new Map<Classification, Denial>(
    CLASSIFICATIONS.map((name) => [
      name,
      make("capability_required", `capability required for ${CLASSIFICATION_TITLE[name]} events`),
    ]),
  );
  const invalid = statusDenials(make);
  return {
    scoped(facts, aspect, closed) {
      const { capability } = facts;
      if (capability === undefined) return required.get(aspect.classification) ?? unauthorized;
      if (capability.status !== "valid") return invalid(capability);
      const scopes = scopeSetOf(capability.scopes);
      if (!scopes.covers(CLASSIFICATION_BIT[aspect.classification], aspect.target)) {
        return unauthorized;
      }
      const refusal = constraint(capability, facts.event, aspect, make);
      if (refusal !== undefined || aspect.derived === aspect.classification) return refusal;
      // A token for submit must not allow navigate because the agent calls its navigation a submit.
      const derived = CLASSIFICATION_BIT[aspect.derived];
      if ((closed & derived) === 0) return undefined;
      if (!scopes.covers(derived, aspect.target)) return unauthorized;
      const real = { ...aspect, classification: aspect.derived };
      return constraint(capability, facts.event, real, make);
    },
    present({ capability }) {
      if (capability === undefined) return missing;
      return capability.status === "valid" ? undefined : invalid(capability);
    },
  };
}

function constraint(
  capability: CapabilityFacts,
  event: EventFacts,
  aspect: Aspect,
  make: DenialMaker,
): Denial | undefined {
  const refusal = capability.authorize?.(event, aspect);
  return refusal === undefined ? undefined : make("scope_not_authorized", refusal);
}

function statusDenials(make: DenialMaker): (capability: CapabilityFacts) => Denial {
  const byStatus = new Map<CapabilityStatus, Denial>(
    CAPABILITY_STATUSES.filter((status) => status !== "valid").map((status) => [
      status,
      make(...reasonOfStatus(status)),
    ]),
  );
  const rejected = make(...reasonOfStatus("rejected"));
  return ({ status, reason }) =>
    status === "rejected" && reason !== undefined
      ? make("capability_rejected", reason)
      : (byStatus.get(status) ?? rejected);
}

function saw(facts: DecisionFacts, aspect: Aspect): ReturnType<Rule["saw"]> {
  const { capability } = facts;
  return {
    direction: facts.event.direction,
    classification: aspect.classification,
    derived: aspect.derived,
    target: formatTarget(aspect.target),
    capability: capability?.id ?? "<none>",
    status: capability?.status ?? "none",
    scopes: [...(capability?.scopes ?? [])],
  };
}
