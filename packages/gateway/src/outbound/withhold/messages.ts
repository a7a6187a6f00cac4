import type { AssistantMessage, Message, ToolCall } from "@countersign/wire";
import type { WithheldRegister } from "../../event/withheld-register.js";
import { callKey, messageKey, resultKey, subagentKey } from "../../event/unit.js";

/** Judges what a list of messages brings that was never judged as a stream. */
export type MessageJudge = {
  /**
   * For an id under which the request or the thread holds a message that no agent could have written: that
   * message, as the person has it; the very same object when nothing was changed, and null when something was and
   * nobody here has the original.
   */
  restore(message: Message): Message | null | undefined;
  /** Told of a message of the request, which no agent could have written, that a list leaves out. */
  missed(message: Message): void;
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
  const restored = new Set<Message>();
  for (const message of messages) {
    const original = judge.restore(message);
    if (original) restored.add(original);
    const seen =
      original === undefined
        ? filterMessage(message, register, judge, calls)
        : original === null || isOfWithheldCall(original, register)
          ? undefined
          : original;
    if (seen !== message) changed = true;
    if (seen !== undefined) kept.push(seen);
  }
  if (!changed) return messages;
  // An id may stand twice in a list; what was withheld further down goes further up too.
  return kept.filter((message) => restored.has(message) || !isWithheld(message, register));
}

/**
 * Puts back what a list leaves out of the words of the person and of the application, and of the answers of the client:
 * a client drops what a list does not name. An answer comes with the message that asked for it.
 *
 * @param sent the messages of the request, in their order
 * @returns the very same array when nothing is missing
 */
export function putBack(
  list: readonly Message[],
  sent: readonly Message[],
  register: WithheldRegister,
  judge: Pick<MessageJudge, "missed">,
): readonly Message[] {
  const listed = new Set(list.map(({ id }) => id));
  const lost = sent.filter(
    (message) =>
      !listed.has(message.id) && isOfClient(message) && !isOfWithheldCall(message, register),
  );
  if (lost.length === 0) return list;
  const kept = new Set<Message>(lost);
  const answered = new Set(lost.map((one) => (one.role === "tool" ? one.toolCallId : undefined)));
  for (const message of sent) {
    if (message.role !== "assistant" || listed.has(message.id)) continue;
    const asks = message.toolCalls?.some(({ id }) => answered.has(id)) === true;
    if (asks && !isWithheld(message, register)) kept.add(message);
  }
  for (const message of lost) judge.missed(message);
  // Each comes behind the message that it stood behind.
  const behind = new Map<string, Message[]>();
  let place = "";
  for (const message of sent) {
    if (listed.has(message.id)) place = `m${message.id}`;
    else if (kept.has(message)) {
      const there = behind.get(place);
      if (there === undefined) behind.set(place, [message]);
      else there.push(message);
    }
  }
  const whole = [...(behind.get("") ?? [])];
  for (const message of list) {
    whole.push(message, ...(behind.get(`m${message.id}`) ?? []));
    behind.delete(`m${message.id}`);
  }
  return whole;
}

/** What only the person, their application or their client can have said. */
function isOfClient({ role }: Message): boolean {
  return role === "user" || role === "system" || role === "developer" || role === "tool";
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

/** An answer to a call that is not shown would stand alone. */
function isOfWithheldCall(message: Message, register: WithheldRegister): boolean {
  return message.role === "tool" && register.find(callKey(message.toolCallId)) !== undefined;
}

/** Whether a message of a list is left out of it: by itself, or with the calls that it was only there for. */
export function isWithheldMessage(message: Message, register: WithheldRegister): boolean {
  if (isWithheld(message, register)) return true;
  if (message.role !== "assistant" || (message.content ?? "") !== "") return false;
  const { toolCalls = [] } = message;
  return (
    toolCalls.length > 0 && toolCalls.every(({ id }) => register.find(callKey(id)) !== undefined)
  );
}

function isWithheld(message: Message, register: WithheldRegister): boolean {
  if (register.find(messageKey(message.id)) !== undefined) return true;
  const { subagentRunId } = message;
  if (subagentRunId !== undefined && register.find(subagentKey(subagentRunId)) !== undefined) {
    return true;
  }
  if (message.role !== "tool") return false;
  return (
    isOfWithheldCall(message, register) ||
    register.find(resultKey(message.toolCallId)) !== undefined
  );
}
