import { assertWithin, canonicalJson, sha256Hex, SmallMap } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { AgUiEvent, Message, RunAgentInput, ToolMessage } from "@countersign/wire";
import { digestOf } from "../../thread/digest.js";
import type { EarlierThread } from "../../thread/held-thread.js";
import { asRecorded, isAgents } from "../../thread/message-record.js";
import type { MessageRecord } from "../../thread/message-record.js";

/** Messages and calls remembered per run; beyond it the run ends rather than forgetting one. */
const MAX_KNOWN = 100_000;

/** The text of a message that is never gone on with. */
const NEVER = -1;

type Answer = Pick<ToolMessage, "toolCallId" | "content">;

/** What the person already has: sent by them, delivered on this stream, or by the ledger part of the thread. */
export class DeliveredState {
  /** The rest of the thread: its ids, roles and digests, no text. */
  readonly #earlier: EarlierThread;
  readonly #roles = new SmallMap<string, Message["role"]>();
  // Made when first needed: most runs know text only, and an empty table takes 200 bytes.
  #calls: Map<string, string> | undefined;
  /** Calls that are whole: they came in a message list, or their end was delivered. */
  #whole: Set<string> | undefined;
  /** What the person or their application said: no agent may change it. */
  #originals: SmallMap<string, Message> | undefined;
  /** Message lists that were delivered. */
  #lists = 0;
  /**
   * For each message, after how many lists its text was known character by character; {@link NEVER} where it is not. A
   * list replaces what the client has, each version of the client in its own way: nothing is gone on with behind it.
   */
  readonly #exact = new SmallMap<string, number>();
  /** Which call each tool message answers, and a digest of the whole answer. */
  #answers: Map<string, { toolCallId: string; digest: string }> | undefined;

  constructor(input: RunAgentInput, earlier: EarlierThread) {
    this.#earlier = earlier;
    for (const message of input.messages) {
      const { id, role } = message;
      this.#exact.set(id, this.#exact.has(id) ? NEVER : 0);
      this.#addMessage(message);
      if (isAgents(role)) continue;
      if (this.#roles.get(id) === role && this.#originals?.has(id) !== true) {
        this.#originals ??= new SmallMap();
        this.#originals.set(id, message);
      }
    }
  }

  /** Whether a message of this id is known in this role. */
  hasMessage({ id, role }: Message): boolean {
    return this.roleOf(id) === role;
  }

  /** The role in which a message is known. */
  roleOf(messageId: string): Message["role"] | undefined {
    return this.#roles.get(messageId) ?? this.#earlier.messages.get(messageId)?.role;
  }

  /**
   * Whether text may not be appended to a message: the client has something under its id, and what that is, is not known
   * here character by character.
   */
  isClosed(messageId: string): boolean {
    const known = this.#exact.get(messageId);
    return known === undefined ? this.#earlier.messages.has(messageId) : known !== this.#lists;
  }

  /** The record of a message of the thread that the request does not repeat and an agent could not have said. */
  recordOf(messageId: string): MessageRecord | undefined {
    const record = this.#earlier.messages.get(messageId);
    return record === undefined || isAgents(record.role) ? undefined : record;
  }

  /** Whether a list changes or leaves out words of the person that nobody here could put back: only digests are kept. */
  losesWords(list: readonly Message[]): boolean {
    const { words, messages } = this.#earlier;
    if (words.size === 0) return false;
    const same = new Set<string>();
    for (const message of list) {
      const record = words.has(message.id) ? messages.get(message.id) : undefined;
      if (record !== undefined && asRecorded(message, record) !== undefined) same.add(message.id);
    }
    return same.size < words.size;
  }

  /** What the request said under this id, where an agent could not have said it. */
  original(messageId: string): Message | undefined {
    return this.#originals?.get(messageId);
  }

  /** Whether a tool message is known with this very answer. */
  hasAnswer({ id, toolCallId, content }: ToolMessage): boolean {
    return this.#answers?.get(id)?.digest === digestOfAnswer({ toolCallId, content });
  }

  /** The call that a known tool message answers. */
  answeredCall(messageId: string): string | undefined {
    return this.#answers?.get(messageId)?.toolCallId;
  }

  /** Whether a result takes the id of an answer in the request or on the thread and says something else. */
  isOtherAnswer({ messageId, ...answer }: Answer & { messageId: string }): boolean {
    if (this.#originals?.has(messageId) === true) {
      return this.#answers?.get(messageId)?.digest !== digestOfAnswer(answer);
    }
    const record = this.recordOf(messageId);
    return record !== undefined && !isRecordedAnswer(record, answer);
  }

  /** The name under which a call is known. */
  callName(toolCallId: string): string | undefined {
    return this.#calls?.get(toolCallId) ?? this.#earlier.calls.get(toolCallId)?.name;
  }

  /** Whether a call is whole: it came in the request or in a message list, has ended, or is of an earlier run. */
  isWholeCall(toolCallId: string): boolean {
    if (this.#whole?.has(toolCallId) === true) return true;
    return this.#earlier.calls.get(toolCallId)?.isHeld === true;
  }

  /** Whether a call of an earlier run was one of a tool that the client declared then. */
  wasClientsCall(toolCallId: string): boolean {
    return this.#earlier.calls.get(toolCallId)?.isClients === true;
  }

  /** Takes note of what leaves for the person. */
  see(event: AgUiEvent): void {
    switch (event.type) {
      case "TEXT_MESSAGE_START":
        this.#begin(event.messageId, this.#lists);
        return this.#add(event.messageId, event.role ?? "assistant");
      case "REASONING_MESSAGE_START":
        this.#begin(event.messageId, this.#lists);
        return this.#add(event.messageId, "reasoning");
      case "ACTIVITY_SNAPSHOT":
        this.#begin(event.messageId, NEVER);
        return this.#add(event.messageId, "activity");
      case "TOOL_CALL_RESULT":
        this.#begin(event.messageId, NEVER);
        this.#add(event.messageId, "tool");
        return this.#addAnswer(event.messageId, event);
      case "TOOL_CALL_START": {
        const carrier = this.carrierOf(event);
        this.#begin(carrier, this.#earlier.messages.has(carrier) ? NEVER : this.#lists);
        this.#add(carrier, "assistant");
        return this.#addCall(event.toolCallId, event.toolCallName);
      }
      case "TOOL_CALL_END":
        return this.#addWhole(event.toolCallId);
      case "MESSAGES_SNAPSHOT":
        this.#lists += 1;
        for (const message of event.messages) {
          this.#exact.set(message.id, NEVER);
          this.#addMessage(message);
        }
        return undefined;
      case "RUN_STARTED":
        // The client adds what it does not have of an echo, and only of the first.
        for (const message of event.input?.messages ?? []) {
          this.#begin(message.id, NEVER);
          this.#addMessage(message);
        }
        return undefined;
      default:
        return undefined;
    }
  }

  /** The message of a call. The client puts one whose parent is no assistant message into one named like the call. */
  carrierOf(event: { parentMessageId?: string; toolCallId: string }): string {
    const { parentMessageId, toolCallId } = event;
    if (parentMessageId === undefined || parentMessageId === "") return toolCallId;
    const role = this.roleOf(parentMessageId);
    return role === undefined || role === "assistant" ? parentMessageId : toolCallId;
  }

  #addMessage(message: Message): void {
    this.#add(message.id, message.role);
    if (message.role === "tool") return this.#addAnswer(message.id, message);
    if (message.role !== "assistant") return;
    for (const call of message.toolCalls ?? []) {
      if (this.#calls?.has(call.id) !== true) {
        this.#addWhole(call.id);
      }
      this.#addCall(call.id, call.function.name);
    }
  }

  /** Takes note of how much is known of the text of a message that is new here. */
  #begin(id: string, lists: number): void {
    if (!this.#exact.has(id)) this.#exact.set(id, lists);
  }

  #add(id: string, role: Message["role"]): void {
    if (this.#roles.has(id)) return;
    assertWithin("maxKnownMessages", this.#roles.size + 1, MAX_KNOWN);
    this.#roles.set(id, role);
  }

  /** An answer of the request stays the one to compare with; one of the agent's own may be replaced. */
  #addAnswer(id: string, { toolCallId, content }: Answer): void {
    if (this.#roles.get(id) !== "tool") return;
    if (this.#originals?.has(id) === true) return;
    this.#answers ??= new Map();
    this.#answers.set(id, { toolCallId, digest: digestOfAnswer({ toolCallId, content }) });
  }

  #addWhole(id: string): void {
    this.#whole ??= new Set();
    assertWithin("maxKnownCalls", this.#whole.size + 1, MAX_KNOWN);
    this.#whole.add(id);
  }

  #addCall(id: string, name: string): void {
    this.#calls ??= new Map();
    if (this.#calls.has(id)) return;
    assertWithin("maxKnownCalls", this.#calls.size + 1, MAX_KNOWN);
    this.#calls.set(id, name);
  }
}

function digestOfAnswer({ toolCallId, content }: Answer): string {
  return sha256Hex(canonicalJson([toolCallId, content as JsonValue]));
}

function isRecordedAnswer({ content, fields }: MessageRecord, answer: Answer): boolean {
  return (
    content.includes(digestOf(answer.content)) &&
    fields?.["toolCallId"] === digestOf(answer.toolCallId)
  );
}
