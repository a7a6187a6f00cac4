import type { AgUiEvent } from "@countersign/wire";

/** A text message in several pieces. */
export function textMessage(pieces: readonly string[], messageId = "m"): AgUiEvent[] {
  return [
    { type: "TEXT_MESSAGE_START", messageId },
    ...pieces.map((delta) => ({ type: "TEXT_MESSAGE_CONTENT" as const, messageId, delta })),
    { type: "TEXT_MESSAGE_END", messageId },
  ];
}
