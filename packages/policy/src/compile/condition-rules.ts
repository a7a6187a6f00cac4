import type { JsonObject } from "@countersign/core";
import { compileCondition } from "../conditions/expression.js";
import type { ConditionBindings } from "../conditions/expression.js";
import type { ConditionRule, ConditionsBlock, PolicyDocument } from "../document/model.js";
import { eventTypeToJson } from "../vocabulary/event-type.js";
import { compileMatch, matchesAny } from "./event-match.js";
import type { DecisionFacts } from "./facts.js";
import type { Rule } from "./rule.js";
import { blockSettings, denials, isActive } from "./rule.js";

/** Compiles `ag_ui_conditions`: one rule per condition. */
export function compileConditionRules(document: PolicyDocument): Rule[] {
  const block: ConditionsBlock | undefined = document.rules.ag_ui_conditions;
  if (!isActive(block)) return [];
  return (block.rules ?? []).map((rule) => conditionRule(document, block, rule));
}

function conditionRule(
  document: PolicyDocument,
  block: ConditionsBlock,
  source: ConditionRule,
): Rule {
  const settings = blockSettings(document, block);
  const mode = source.mode ?? settings.mode;
  const id = `ag_ui_conditions.${source.id}`;
  const make = denials(id, source.on_block ?? settings.onBlock);
  const hit = make("condition", source.reason ?? `blocked by condition ${source.id}`);
  const failed = make("condition_failed", `condition ${source.id} could not be evaluated`);
  const match = compileMatch(source.match);
  const condition = compileCondition(source.when);
  const blockingAnswer = source.effect !== "allow";
  return {
    id,
    block: "ag_ui_conditions",
    mode,
    perAspect: false,
    check(facts) {
      if (!matchesAny(match, facts.event)) return undefined;
      const answer = condition.evaluate(bindingsOf(facts));
      if (answer === undefined) return failed;
      return answer === blockingAnswer ? hit : undefined;
    },
    saw(facts) {
      const looks = matchesAny(match, facts.event);
      const answer = looks ? condition.evaluate(bindingsOf(facts)) : undefined;
      return { when: source.when, matched: looks, answer: answer ?? null };
    },
  };
}

/** The values behind a condition's names. What we derived lies over what the event says of itself. */
export function bindingsOf(facts: DecisionFacts): ConditionBindings {
  const { event, capability, counters, variables } = facts;
  return {
    event: {
      ...variables?.event,
      event_type: eventTypeToJson(event),
      classification: event.classification,
      direction: event.direction,
      target: { ...event.target } as JsonObject,
      tools: (event.toolCalls ?? []).map((call) => ({
        name: call.name,
        by_client: call.byClient,
        arguments: call.arguments ?? null,
      })),
    },
    message: variables?.message,
    session: variables?.session,
    capability:
      capability === undefined
        ? { id: "<none>", status: "none", scopes: [], claims: {} }
        : {
            id: capability.id,
            status: capability.status,
            scopes: [...capability.scopes],
            claims: capability.claims ?? {},
          },
    counters: {
      events_in_second: counters.eventsInSecond,
      velocity: Array.from(counters.velocity),
    },
  };
}
