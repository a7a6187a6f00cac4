import type { AgUiEvent } from "@countersign/wire";
import { stringMember } from "../base/string-member.js";

/** The CUSTOM event by which a gateway tells that it withheld something. */
export const BLOCKED_NAME = "countersign.blocked";

/** What a gateway withheld and why; nothing of its content. */
export type BlockedNotice = {
  /** The receipt of the decision. */
  readonly receipt: string;
  /** The type of the event that was withheld. */
  readonly type: string;
  readonly rule?: string;
  readonly reason?: string;
  /** The run it belongs to. */
  readonly runId?: string;
  /** The message it came after; a message that is blocked in its middle is that message itself. */
  readonly afterMessageId?: string;
};

/** The notice in an event. Anybody on the way can write one: it informs, it decides nothing. */
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
