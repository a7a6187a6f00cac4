import type { AssistantMessage, Message, ToolCall } from "@countersign/wire";
import type { WithheldRegister } from "./register.js";
import { callKey, messageKey, resultKey, subagentKey } from "./unit.js";

/** Judges what a list of messages brings that was never judged as a stream. */
export type MessageJudge = {
  /** Whether a message itself may be shown. */
  allowsMessage(message: Message): boolean;
  /** Whether a tool call inside an assistant message may be shown. */
  allowsCall(call: ToolCall, message: AssistantMessage): boolean;
};

/** The messages a person may see; the very same array when all of them may be seen. */
export function filterMessages(
  messages: readonly Message[],
  register: WithheldRegister,
  judge: MessageJudge,
): readonly Message[] {
  // Calls first: a result may stand before the call it answers, and goes where that goes.
  const calls = new Set<ToolCall>();
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const call of message.toolCalls ?? []) {
      if (register.find(callKey(call.id)) === undefined && judge.allowsCall(call, message)) {
        calls.add(call);
      }
    }
  }
  let changed = false;
  const kept: Message[] = [];
  for (const message of messages) {
    const seen = filterMessage(message, register, judge, calls);
    if (seen !== message) changed = true;
    if (seen !== undefined) kept.push(seen);
  }
  if (!changed) return messages;
  // An id may stand twice in a list; what was withheld further down goes further up too.
  return kept.filter((message) => !isWithheld(message, register));
}

function filterMessage(
  message: Message,
  register: WithheldRegister,
  judge: MessageJudge,
  shown: ReadonlySet<ToolCall>,
): Message | undefined {
  if (isWithheld(message, register) || !judge.allowsMessage(message)) return undefined;
  if (message.role !== "assistant" || message.toolCalls === undefined) return message;
  const calls = message.toolCalls.filter((call) => shown.has(call));
  if (calls.length === message.toolCalls.length) return message;
  if (calls.length > 0) return { ...message, toolCalls: calls };
  const { toolCalls: _withheld, ...rest } = message;
  // A message that was only there for its calls goes with them.
  return rest.content === undefined ? undefined : rest;
}

function isWithheld(message: Message, register: WithheldRegister): boolean {
  if (register.find(messageKey(message.id)) !== undefined) return true;
  const { subagentRunId } = message;
  if (subagentRunId !== undefined && register.find(subagentKey(subagentRunId)) !== undefined) {
    return true;
  }
  if (message.role !== "tool") return false;
  return (
    register.find(callKey(message.toolCallId)) !== undefined ||
    register.find(resultKey(message.toolCallId)) !== undefined
  );
}
