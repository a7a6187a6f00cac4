import type { JsonObject } from "@countersign/core";
import type { Decision, EventFacts } from "@countersign/policy";
import type { AgUiEvent } from "@countersign/wire";
import type { EventContext } from "../../event/event-context.js";
import type { Run } from "../../event/run.js";
import { opensCall } from "./quarantine.js";

/**
 * What conditions say about the start and the arguments of a call that is judged whole: a block or a remark.
 *
 * The verdict of a held call is that of its end. A condition that looks at another of its events (the name in
 * its start, a word in its arguments) would never be asked, only because some other rule wants the call held.
 */
export function evaluateEarlier(
  run: Run,
  facts: EventFacts,
  held: readonly EventContext[],
): Decision | undefined {
  const start = held[0]?.event;
  if (start?.type !== "TOOL_CALL_START") return undefined;
  const events = [start, ...joinedArguments(start.toolCallId, held)];
  return evaluateUncounted(run, facts, events);
}

/** What conditions say about events that come with one that is judged itself; nothing of it is counted twice. */
export function evaluateUncounted(
  run: Run,
  facts: EventFacts,
  events: readonly AgUiEvent[],
): Decision | undefined {
  if (events.length === 0 || !looksBeside(run)) return;
  // What is known of the call is what is known of it whole; that it is looked at here opens nothing.
  const known: EventFacts = { ...facts, source: "TOOL_CALL_ARGS" };
  const isOfCall = opensCall(facts);
  let remark: Decision | undefined;
  for (const event of events) {
    const payload = event as unknown as JsonObject;
    const question = {
      facts: known,
      isUncounted: true,
      isOfCall,
      event: payload,
      subject: { payload },
    };
    const { decision } = run.judge(question);
    if (!decision.allow) return decision;
    if (decision.observed !== undefined) remark ??= decision;
  }
  return remark;
}

/** Conditions look at such events, and so does `ag_ui_content`: names, metadata and errors of tools may be only listed. */
function looksBeside({ policy }: Run): boolean {
  return policy.document.rules.ag_ui_conditions !== undefined || policy.content !== undefined;
}

/** The arguments as one event: ten thousand pieces of a call are no reason to read it ten thousand times. */
function joinedArguments(toolCallId: string, held: readonly EventContext[]): AgUiEvent[] {
  let delta = "";
  let metadata: JsonObject | undefined;
  for (const { event } of held) {
    if (event?.type !== "TOOL_CALL_ARGS") continue;
    delta += event.delta;
    // Without a prototype, so that every name is only a name.
    if (event.metadata !== undefined) {
      metadata = Object.assign(metadata ?? Object.create(null), event.metadata) as JsonObject;
    }
  }
  if (delta === "" && metadata === undefined) return [];
  return [{ type: "TOOL_CALL_ARGS", toolCallId, delta, ...(metadata && { metadata }) }];
}
