import type { AgUiEvent } from "@countersign/wire";
import { stringMember } from "../base/string-member.js";

/** The CUSTOM event by which a gateway reports a blocked event. */
export const BLOCKED_NAME = "countersign.blocked";

/** A gateway's report of a blocked event and its reason, without the content. */
export type BlockedNotice = {
  /** The receipt of the decision. */
  readonly receipt: string;
  /** The type of the blocked event. */
  readonly type: string;
  readonly rule?: string;
  readonly reason?: string;
  /** The run it belongs to. */
  readonly runId?: string;
  /** The message before it; for a message blocked in the middle, that message. */
  readonly afterMessageId?: string;
};

/**
 * Reads the notice in an event. Any party on the connection can write one: it informs and decides
 * nothing.
 */
export function blockedNoticeOf(event: AgUiEvent): BlockedNotice | undefined {
  if (event.type !== "CUSTOM" || event.name !== BLOCKED_NAME) return undefined;
  const rule = stringMember(event.value, "rule");
  const reason = stringMember(event.value, "reason");
  return {
    receipt: stringMember(event.value, "receipt") ?? "",
    type: stringMember(event.value, "type") ?? "",
    ...(rule === undefined ? {} : { rule }),
    ...(reason === undefined ? {} : { reason }),
  };
}
