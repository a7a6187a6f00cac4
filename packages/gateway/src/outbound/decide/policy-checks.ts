import type { JsonObject } from "@countersign/core";
import type { Decision, EventFacts, ViolationFacts } from "@countersign/policy";
import type { AgUiEvent } from "@countersign/wire";
import type { EventContext } from "../../event/event-context.js";
import { denialIn } from "./denial.js";
import { evaluateEarlier } from "./evaluate-uncounted.js";
import type { RuleState, Subject } from "./rule.js";

/** Evaluates the policy on an event, or on a held tool call with all its events. */
export function eventPolicy({ state, context, place, held }: Subject): Decision | undefined {
  const { event, facts, claim } = context;
  if (event === undefined || facts === undefined) return undefined;
  const earlier = evaluateEarlier(state, facts, held);
  if (earlier?.allow === false) return earlier;
  const payload = event as unknown as JsonObject;
  const { decision, capability } = state.judge({
    facts: ofListItself(event, facts),
    isContinuation: context.isContinued || place?.phase === "continue" || place?.phase === "close",
    violations: violationsOf(state, context, event),
    presented: claim?.capability,
    content: state.content?.read(context),
    surface: context.surface,
    event: payload,
    subject:
      claim === undefined
        ? { payload }
        : { id: claim.envelope.event_id, payload: claim.envelope.payload },
  });
  state.content?.settle(context, decision.allow || state.view.mustClose(place));
  if (capability !== undefined) context.capabilityId = capability.id;
  return denialIn(decision) === undefined ? (earlier ?? decision) : decision;
}

/** The tool calls of a message list are evaluated one by one, as if they were streamed; the list itself makes none. */
function ofListItself(event: AgUiEvent, facts: EventFacts): EventFacts {
  if (event.type !== "MESSAGES_SNAPSHOT" && event.type !== "RUN_STARTED") return facts;
  const { toolCalls: _evaluatedApart, ...rest } = facts;
  return rest;
}

/** The stream rules that an event violates; those of one listed message count against that message. */
function violationsOf(
  { run }: RuleState,
  { violations }: EventContext,
  event: AgUiEvent,
): readonly ViolationFacts[] | undefined {
  const own = violations?.filter((one) => listedMessageOf(one) === undefined);
  const rule = run.client.brokenBy(event);
  return rule === undefined ? own : [...(own ?? []), { rule, severity: "error" }];
}

/** The id of the listed message that a violation is about. */
export function listedMessageOf(violation: object): string | undefined {
  return "messageId" in violation ? (violation.messageId as string) : undefined;
}

/** A call that the person has not answered about, or its result or subagent. */
export function actsUnanswered({ state, request }: Subject): string | undefined {
  return request && state.run.approvals?.unansweredReason(request);
}

/** A call that the person's answers do not cover, or that they cover once and is carried out again. */
export function differsFromApproved({ state, request }: Subject): string | undefined {
  return request && state.run.approvals?.refusalReason(request);
}
