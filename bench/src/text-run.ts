import type { AgUiEvent } from "@countersign/wire";

/** A run with one answer of this many deltas. */
export function textRun(deltas: number): AgUiEvent[] {
  const ids = { threadId: "thread", runId: "run" };
  const content = Array.from({ length: deltas }, (_, index): AgUiEvent => ({
    type: "TEXT_MESSAGE_CONTENT",
    messageId: "m",
    delta: ` word${index}`,
  }));
  return [
    { type: "RUN_STARTED", ...ids },
    { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant" },
    ...content,
    { type: "TEXT_MESSAGE_END", messageId: "m" },
    { type: "RUN_FINISHED", ...ids },
  ];
}
