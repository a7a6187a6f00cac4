import type { Message, Metadata, ToolCall } from "../model/message.js";

/** A message under construction: any member may be written. */
type MessageDraft = Message & {
  content?: unknown;
  metadata?: Metadata;
  toolCalls?: ToolCall[];
  encryptedValue?: string;
  encryptedValueType?: string;
};

/**
 * One message of the store.
 *
 * A message that was shown is never altered. The first change after that makes a copy, further
 * changes alter the copy in place, so a run of text deltas costs one string append each.
 */
export class MessageEntry {
  #message: Message;
  #draft: MessageDraft | undefined;
  #freshCalls: Set<ToolCall> | undefined;

  constructor(message: Message) {
    this.#message = message;
  }

  /** The message as it stands; not to be kept. */
  get current(): Message {
    return this.#draft ?? this.#message;
  }

  /** The message to show: stable until the next change. */
  view(): Message {
    if (this.#draft !== undefined) {
      this.#message = this.#draft;
      this.#draft = undefined;
      this.#freshCalls = undefined;
    }
    return this.#message;
  }

  /** The message, open for change. */
  draft(): MessageDraft {
    return (this.#draft ??= { ...this.#message } as MessageDraft);
  }

  /** Puts another message in this place. */
  replace(message: Message): void {
    this.#message = message;
    this.#draft = undefined;
    this.#freshCalls = undefined;
  }

  /** Appends text; content that was not text is replaced, as clients do. */
  appendText(delta: string): void {
    const draft = this.draft();
    draft.content = typeof draft.content === "string" ? draft.content + delta : delta;
  }

  /** Adds a tool call and returns its position. */
  addCall(call: ToolCall): number {
    const calls = this.#freshCallList();
    calls.push(call);
    this.#freshCalls?.add(call);
    return calls.length - 1;
  }

  /** A tool call, open for change. */
  draftCall(position: number): ToolCall | undefined {
    const calls = this.#freshCallList();
    const call = calls[position];
    if (call === undefined || this.#freshCalls?.has(call) === true) return call;
    const copy: ToolCall = { ...call, function: { ...call.function } };
    calls[position] = copy;
    this.#freshCalls?.add(copy);
    return copy;
  }

  #freshCallList(): ToolCall[] {
    const draft = this.draft();
    if (this.#freshCalls === undefined) {
      this.#freshCalls = new Set();
      draft.toolCalls = [...(draft.toolCalls ?? [])];
    }
    return (draft.toolCalls ??= []);
  }
}
