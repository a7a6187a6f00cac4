import type { AgUiBlock, OrderBlock, PolicyDocument } from "../document/model.js";
import type { DenialMaker, Rule } from "./rule.js";
import { blockSettings, denials, isActive } from "./rule.js";

/** The default events per second and connection: several times as many as a framework sends of a model without delay. */
export const DEFAULT_EVENTS_PER_SECOND = 10_000;

/** Rules about the stream: its transport, its rate, its order, its claims. */
export function compileStreamRules(document: PolicyDocument, block: AgUiBlock): Rule[] {
  return [
    ...transportRule(document, block),
    ...orderRule(document),
    rateRule(document, block),
    claimRule(document, block),
  ];
}

function transportRule(document: PolicyDocument, block: AgUiBlock): Rule[] {
  const wanted = block.transport ?? "any";
  if (wanted === "any") return [];
  const { mode, onBlock } = blockSettings(document, block);
  const denial = denials("ag_ui.transport", onBlock)(
    "transport_not_allowed",
    `this policy is for ${wanted} only`,
  );
  return [
    {
      id: "ag_ui.transport",
      block: "ag_ui",
      mode,
      perAspect: false,
      check: (facts) => (facts.transport === wanted ? undefined : denial),
      saw: (facts) => ({ transport: facts.transport, wanted }),
    },
  ];
}

function orderRule(document: PolicyDocument): Rule[] {
  const block: OrderBlock = document.rules.ag_ui_order ?? {};
  if (!isActive(block)) return [];
  const { mode, onBlock } = blockSettings(document, block);
  const make: DenialMaker = denials("ag_ui_order", onBlock);
  const byRule = new Map(Object.entries(block.rules ?? {}));
  const onError = block.on_error ?? "block";
  const onWarning = block.on_warning ?? "allow";
  return [
    {
      id: "ag_ui_order",
      block: "ag_ui_order",
      mode,
      perAspect: false,
      check(facts) {
        const { violations } = facts;
        if (violations === undefined) return undefined;
        for (const { rule, severity } of violations) {
          const action = byRule.get(rule) ?? (severity === "error" ? onError : onWarning);
          if (action === "block") {
            return make("order_violation", `event breaks the protocol's order: ${rule}`);
          }
        }
        return undefined;
      },
      saw: (facts) => ({ violations: (facts.violations ?? []).map(({ rule }) => rule) }),
    },
  ];
}

/** A stream without some of its events would still look complete, so that a rate over the limit ends the run. */
function rateRule(document: PolicyDocument, block: AgUiBlock): Rule {
  const { mode } = blockSettings(document, block);
  const limit = block.max_events_per_second ?? DEFAULT_EVENTS_PER_SECOND;
  const denial = denials("ag_ui.max_events_per_second", "end")(
    "rate_exceeded",
    `more than ${limit} events in one second`,
  );
  return {
    id: "ag_ui.max_events_per_second",
    block: "ag_ui",
    mode,
    perAspect: false,
    // Written so that NaN denies.
    check: (facts) => (facts.counters.eventsInSecond <= limit ? undefined : denial),
    saw: (facts) => ({ events_in_second: facts.counters.eventsInSecond, limit }),
  };
}

function claimRule(document: PolicyDocument, block: AgUiBlock): Rule {
  const { mode, onBlock } = blockSettings(document, block);
  const make = denials("ag_ui.classification", onBlock);
  return {
    id: "ag_ui.classification",
    block: "ag_ui",
    mode,
    perAspect: false,
    check(facts) {
      const { mismatch } = facts.event;
      return mismatch === undefined ? undefined : make("claim_mismatch", mismatch);
    },
    saw: ({ event }) => ({ derived: event.derived, claimed: event.claimed ?? null }),
  };
}
