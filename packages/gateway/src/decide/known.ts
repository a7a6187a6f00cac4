import { assertWithin } from "@countersign/core";
import type { AgUiEvent, Message, RunAgentInput } from "@countersign/wire";

/** Messages and calls remembered per run; beyond it the run ends rather than forgetting one. */
const MAX_KNOWN = 100_000;

/** What the person already has: sent by them, or delivered on this stream. */
export class Known {
  readonly #roles = new Map<string, Message["role"]>();
  readonly #calls = new Map<string, string>();

  constructor(input: RunAgentInput) {
    for (const message of input.messages) this.#addMessage(message);
  }

  /** Whether a message of this id is known in this role. */
  hasMessage({ id, role }: Message): boolean {
    return this.#roles.get(id) === role;
  }

  /** The name under which a call is known. */
  callName(toolCallId: string): string | undefined {
    return this.#calls.get(toolCallId);
  }

  /** Takes note of what leaves for the person. */
  see(event: AgUiEvent): void {
    switch (event.type) {
      case "TEXT_MESSAGE_START":
        return this.#add(event.messageId, event.role ?? "assistant");
      case "REASONING_MESSAGE_START":
        return this.#add(event.messageId, "reasoning");
      case "ACTIVITY_SNAPSHOT":
        return this.#add(event.messageId, "activity");
      case "TOOL_CALL_RESULT":
        return this.#add(event.messageId, "tool");
      case "TOOL_CALL_START":
        this.#add(event.parentMessageId ?? event.toolCallId, "assistant");
        return this.#addCall(event.toolCallId, event.toolCallName);
      case "MESSAGES_SNAPSHOT":
        for (const message of event.messages) this.#addMessage(message);
        return undefined;
      case "RUN_STARTED":
        for (const message of event.input?.messages ?? []) this.#addMessage(message);
        return undefined;
      default:
        return undefined;
    }
  }

  #addMessage(message: Message): void {
    this.#add(message.id, message.role);
    if (message.role !== "assistant") return;
    for (const call of message.toolCalls ?? []) this.#addCall(call.id, call.function.name);
  }

  #add(id: string, role: Message["role"]): void {
    if (this.#roles.has(id)) return;
    assertWithin("maxKnownMessages", this.#roles.size + 1, MAX_KNOWN);
    this.#roles.set(id, role);
  }

  #addCall(id: string, name: string): void {
    if (this.#calls.has(id)) return;
    assertWithin("maxKnownCalls", this.#calls.size + 1, MAX_KNOWN);
    this.#calls.set(id, name);
  }
}
