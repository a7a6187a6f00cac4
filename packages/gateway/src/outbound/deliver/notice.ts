import type { AgUiEvent, CustomEvent } from "@countersign/wire";
import type { EventContext } from "../../event/event-context.js";

/** The name of the event that reports a withheld event to the client. */
export const NOTICE_NAME = "countersign.blocked";

/**
 * Creates a notice. It names the receipt, the rule, the reason, and the ids and names of the withheld event; it has none of its content.
 */
export function noticeOf(context: EventContext): CustomEvent {
  const { event, decision, receiptId, facts } = context;
  return {
    type: "CUSTOM",
    name: NOTICE_NAME,
    value: {
      receipt: receiptId ?? "",
      type: event?.type ?? "",
      classification: facts?.classification ?? "",
      ...namesOf(context),
      ...(decision?.allow === false ? { rule: decision.rule, reason: decision.reason } : {}),
    },
  };
}

/** A name or an id as programs write them. Any other text could be a sentence, which a page would show as the gateway's. */
const PLAIN = /^[\w$.:@/-]{1,128}$/;

/** Whether a name is one that programs write, so that a message of the gateway may contain it. */
export function isPlainName(name: string): boolean {
  return PLAIN.test(name);
}

/** The plain ids and names of an event. */
function namesOf({ event, facts }: EventContext): Record<string, string> {
  const names: Record<string, string | undefined> = {
    messageId: memberOf(event, "messageId"),
    toolCallId: memberOf(event, "toolCallId"),
    tool: facts?.toolCalls?.length === 1 ? facts.toolCalls[0]?.name : undefined,
    name: memberOf(event, "name"),
    component: facts?.target?.component_type,
    path: pathOf(event),
  };
  return Object.fromEntries(
    Object.entries(names).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && isPlainName(entry[1]),
    ),
  );
}

function memberOf(event: AgUiEvent | undefined, name: string): string | undefined {
  const value = (event as Record<string, unknown> | undefined)?.[name];
  return typeof value === "string" ? value : undefined;
}

/** The path of the first operation of a patch; a snapshot has no such path. */
function pathOf(event: AgUiEvent | undefined): string | undefined {
  return event?.type === "STATE_DELTA" ? event.delta[0]?.path : undefined;
}
