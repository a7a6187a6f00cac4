import type { AssistantMessage, Message, ToolCall } from "@countersign/wire";
import type { Withholds } from "../../event/withheld-register.js";
import { callKey, messageKey, resultKey, subagentKey } from "../../event/unit.js";

/** Judges the messages of a list that were never judged as a stream. */
export type MessageJudge = {
  /**
   * Restores a message of the request or the thread that no agent could have written.
   *
   * @returns the message as the person has it; the same object if it is unchanged; `null` if it is changed and the gateway does not have
   * the original; `undefined` for any other message
   */
  restore(message: Message): Message | null | undefined;
  /** The result of the request that a listed message repeats under another id. */
  repeatedAnswer(message: Message): Message | undefined;
  /** Whether a message is one of the thread that the request does not repeat. */
  isEarlier(message: Message): boolean;
  /** Called for a message of the request that no agent could have written and that a list leaves out. */
  missed(message: Message): void;
  /** Whether a message itself may be delivered. */
  allowsMessage(message: Message): boolean;
  /** In a policy that observes: judges a message that leaves although enforce mode would withhold its unit. */
  observe?(message: Message): void;
  /** Whether a tool call inside an assistant message may be delivered. */
  allowsCall(call: ToolCall, message: AssistantMessage): boolean;
};

/** The messages that may be delivered; the same array if all of them may. */
export function filterMessages(
  messages: readonly Message[],
  register: Withholds,
  judge: MessageJudge,
): readonly Message[] {
  // Calls first: a result may come before its call in the list, and is withheld with it.
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
  // An id may appear twice in a list: a message withheld later in the list is withheld earlier too.
  return kept.filter((message) => restored.has(message) || !isWithheld(message, register));
}

/**
 * Restores the messages of the person, the application and the client's tools that a list leaves out: a client drops every message that a
 * list does not name. A result comes with the message of its call.
 *
 * @param sent the messages of the request, in their order
 * @returns the same array if nothing is missing
 */
export function putBack(
  list: readonly Message[],
  sent: readonly Message[],
  register: Withholds,
  judge: Pick<MessageJudge, "missed" | "repeatedAnswer" | "isEarlier">,
): readonly Message[] {
  const listed = new Set(list.map(({ id }) => id));
  const repeated = new Set(list.map((message) => judge.repeatedAnswer(message)));
  const lost = sent.filter(
    (message) =>
      !listed.has(message.id) &&
      isOfClient(message) &&
      !isOfWithheldCall(message, register) &&
      !repeated.has(message),
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
  // Each message returns to its place after the message before it, the first one after those that the request does not repeat.
  const behind = new Map<string, Message[]>();
  const earlier = list.findLast((message) => judge.isEarlier(message));
  let place = earlier === undefined ? "" : `m${earlier.id}`;
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

/** Whether only the person, their application or their client can have sent a message. */
function isOfClient({ role }: Message): boolean {
  return role === "user" || role === "system" || role === "developer" || role === "tool";
}

function filterMessage(
  message: Message,
  register: Withholds,
  judge: MessageJudge,
  shown: ReadonlySet<ToolCall>,
): Message | undefined {
  if (isWithheld(message, register)) {
    judge.observe?.(message);
    return undefined;
  }
  if (!judge.allowsMessage(message)) return undefined;
  if (message.role !== "assistant" || message.toolCalls === undefined) return message;
  const calls = message.toolCalls.filter((call) => shown.has(call));
  if (calls.length === message.toolCalls.length) return message;
  if (calls.length > 0) return { ...message, toolCalls: calls };
  const { toolCalls: _withheld, ...rest } = message;
  // A message that has only withheld calls is withheld with them.
  return rest.content === undefined ? undefined : rest;
}

/** A result of a withheld call is withheld too. */
function isOfWithheldCall(message: Message, register: Withholds): boolean {
  return message.role === "tool" && register.find(callKey(message.toolCallId)) !== undefined;
}

/** Whether a message is left out of a list: on its own, or because all it has is withheld calls. */
export function isWithheldMessage(message: Message, register: Withholds): boolean {
  if (isWithheld(message, register)) return true;
  if (message.role !== "assistant" || (message.content ?? "") !== "") return false;
  const { toolCalls = [] } = message;
  return (
    toolCalls.length > 0 && toolCalls.every(({ id }) => register.find(callKey(id)) !== undefined)
  );
}

export function isWithheld(message: Message, register: Withholds): boolean {
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
