import type { CelInput } from "@bufbuild/cel";
import type { JsonObject, JsonValue } from "@countersign/core";
import type { EventFacts } from "../classify/facts.js";
import { compileCondition } from "../conditions/expression.js";
import type { ConditionBindings, ConditionVariable } from "../conditions/expression.js";
import type { ConditionRule, ConditionsBlock, PolicyDocument } from "../document/model.js";
import type { Overlay, Spend } from "../conditions/json-view.js";
import { layered, toCelInput } from "../conditions/json-view.js";
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
  const id = `ag_ui_conditions.${source.id}` as const;
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

/** The values of a condition's names. */
export function bindingsOf(facts: DecisionFacts): ConditionBindings {
  return (name, spend) => SOURCES[name](facts, spend);
}

// Derived values override the event's own members.
const DERIVED: Overlay<EventFacts> = new Map<string, (event: EventFacts) => JsonValue>([
  ["event_type", eventTypeToJson],
  ["classification", (event) => event.classification],
  ["direction", (event) => event.direction],
  ["target", (event) => ({ ...event.target })],
  [
    "components",
    (event) =>
      (event.also ?? []).flatMap(({ shown, classification }) =>
        shown === undefined
          ? []
          : [{ type: shown.type, id: shown.id, action: shown.action ?? null, classification }],
      ),
  ],
  [
    "tools",
    (event) =>
      (event.toolCalls ?? []).map((call) => ({
        name: call.name,
        by_client: call.byClient,
        // The client may read arguments that the gateway cannot: a condition that reads them has no
        // result.
        get arguments() {
          if (call.state === "unparsable") throw new TypeError("the arguments cannot be read");
          return call.arguments ?? null;
        },
      })),
  ],
]);

// Patches and whole values change a state and an activity; a condition sees both the same way.
const DERIVED_WITH_CHANGES: Overlay<EventFacts> = new Map([
  ...DERIVED,
  ["delta", ({ changes }: EventFacts) => changes?.() ?? []],
]);

const NOTHING: JsonObject = {};

const SOURCES: Readonly<
  Record<ConditionVariable, (facts: DecisionFacts, spend: Spend) => CelInput | undefined>
> = {
  event: ({ event, variables }, spend) =>
    layered(
      variables?.event ?? NOTHING,
      event.changes === undefined ? DERIVED : DERIVED_WITH_CHANGES,
      event,
      spend,
    ),
  message: ({ variables }, spend) => view(variables?.message, spend),
  session: ({ variables }, spend) => view(variables?.session, spend),
  capability: ({ capability }, spend) =>
    view(
      capability === undefined
        ? { id: "<none>", status: "none", scopes: [], claims: {} }
        : {
            id: capability.id,
            status: capability.status,
            scopes: [...capability.scopes],
            claims: capability.claims ?? {},
          },
      spend,
    ),
  counters: ({ counters }, spend) =>
    view(
      {
        events_in_second: counters.eventsInSecond,
        velocity: Array.from(counters.velocity),
      },
      spend,
    ),
};

function view(value: JsonObject | undefined, spend: Spend): CelInput | undefined {
  return value === undefined ? undefined : toCelInput(value, spend);
}
