import type { JsonObject } from "@countersign/core";
import type { Decision, EventFacts } from "@countersign/policy";
import type { AgUiEvent } from "@countersign/wire";
import type { EventContext } from "../../event/event-context.js";
import { opensCall } from "./quarantine.js";
import type { RuleState } from "./rule.js";

/**
 * Evaluates conditions on the start and the arguments of a call that is judged as a whole. Returns a denial or an observed denial.
 *
 * The decision about a held call is that of its end event. Without this evaluation, a condition on the start (its name) or on the arguments
 * would never apply once another rule has the call held.
 */
export function evaluateEarlier(
  state: RuleState,
  facts: EventFacts,
  held: readonly EventContext[],
): Decision | undefined {
  const start = held[0]?.event;
  if (start?.type !== "TOOL_CALL_START") return undefined;
  const events = [start, ...joinedArguments(start.toolCallId, held)];
  return evaluateUncounted(state, facts, events);
}

/** Evaluates conditions on events that come with one that is judged itself, without counting them again. */
export function evaluateUncounted(
  state: RuleState,
  facts: EventFacts,
  events: readonly AgUiEvent[],
): Decision | undefined {
  if (events.length === 0 || !readsUncounted(state)) return;
  // The facts are those of the complete call; evaluating it here opens nothing.
  const known: EventFacts = { ...facts, source: "TOOL_CALL_ARGS" };
  const isOfCall = opensCall(facts);
  let observed: Decision | undefined;
  for (const event of events) {
    const payload = event as unknown as JsonObject;
    const request = {
      facts: known,
      isUncounted: true,
      isOfCall,
      event: payload,
      subject: { payload },
    };
    const { decision } = state.judge(request);
    if (!decision.allow) return decision;
    if (decision.observed !== undefined) observed ??= decision;
  }
  return observed;
}

/** Whether conditions or `ag_ui_content` read such events: the names, metadata and errors of tools may only be in lists. */
function readsUncounted({ run: { policy } }: RuleState): boolean {
  return policy.document.rules.ag_ui_conditions !== undefined || policy.content !== undefined;
}

/** Joins the arguments into one event, so that a call in ten thousand pieces is read once. */
function joinedArguments(toolCallId: string, held: readonly EventContext[]): AgUiEvent[] {
  let delta = "";
  let metadata: JsonObject | undefined;
  for (const { event } of held) {
    if (event?.type !== "TOOL_CALL_ARGS") continue;
    delta += event.delta;
    // Without a prototype, so that no name has a special meaning.
    if (event.metadata !== undefined) {
      metadata = Object.assign(metadata ?? Object.create(null), event.metadata) as JsonObject;
    }
  }
  if (delta === "" && metadata === undefined) return [];
  return [{ type: "TOOL_CALL_ARGS", toolCallId, delta, ...(metadata && { metadata }) }];
}
