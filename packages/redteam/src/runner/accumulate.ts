import type { JsonObject } from "@countersign/core";
import { textMember } from "../oatf/json/access.js";

type Call = { id: string; name: string; arguments: string; result: string | null };
type Text = { id: string; role: string; content: string; tool_calls: Call[] };

/** Joins the pieces of one run. */
export type Accumulator = {
  add(name: string, event: JsonObject): void;
  /** `{messages, reasoning}` in the order of first appearance; `undefined` when there was nothing to join. */
  content(): JsonObject | undefined;
};

const ANONYMOUS = "";

/**
 * Joins deltas into whole texts. Patterns look at one message at a time, so a word cut across two deltas
 * would pass them by.
 */
export function createAccumulator(): Accumulator {
  const messages = new Map<string, Text>();
  const calls = new Map<string, Call>();
  const reasoning = new Map<string, { id: string; content: string }>();
  let lastMessage = ANONYMOUS;
  let lastCall = ANONYMOUS;
  let lastReasoning = ANONYMOUS;

  const messageOf = (id: string, role: string | undefined): Text => {
    let message = messages.get(id);
    if (message === undefined) {
      message = { id, role: role ?? "assistant", content: "", tool_calls: [] };
      messages.set(id, message);
    }
    return message;
  };
  const addText = (event: JsonObject): void => {
    lastMessage = textMember(event, "messageId") ?? lastMessage;
    messageOf(lastMessage, textMember(event, "role")).content += textMember(event, "delta") ?? "";
  };
  const addCall = (event: JsonObject): void => {
    lastCall = textMember(event, "toolCallId") ?? lastCall;
    let call = calls.get(lastCall);
    if (call === undefined) {
      const name = textMember(event, "toolCallName") ?? "";
      call = { id: lastCall, name, arguments: "", result: null };
      calls.set(lastCall, call);
      messageOf(textMember(event, "parentMessageId") ?? lastCall, "assistant").tool_calls.push(
        call,
      );
    }
    call.arguments += textMember(event, "delta") ?? "";
  };
  const addReasoning = (event: JsonObject): void => {
    lastReasoning = textMember(event, "messageId") ?? lastReasoning;
    const thought = reasoning.get(lastReasoning) ?? { id: lastReasoning, content: "" };
    thought.content += textMember(event, "delta") ?? "";
    reasoning.set(lastReasoning, thought);
  };
  return {
    add(name, event) {
      if (/^text_message_(start|content|chunk)$/.test(name)) addText(event);
      else if (/^tool_call_(start|args|chunk)$/.test(name)) addCall(event);
      else if (name === "tool_call_result") {
        const call = calls.get(textMember(event, "toolCallId") ?? ANONYMOUS);
        if (call !== undefined) call.result = textMember(event, "content") ?? null;
      } else if (/^(reasoning_message|thinking_text_message)_(start|content|chunk)$/.test(name)) {
        addReasoning(event);
      }
    },
    content() {
      if (messages.size === 0 && reasoning.size === 0) return undefined;
      return { messages: [...messages.values()], reasoning: [...reasoning.values()] };
    },
  };
}
