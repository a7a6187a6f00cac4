import { SmallMap } from "@countersign/core";
import type { Message, ToolCall } from "../model/message.js";
import { requireWithin } from "./limits.js";
import type { ReduceLimits } from "./limits.js";
import { MessageEntry } from "./message-entry.js";

/** The location of a tool call. */
export type CallLocation = { entry: MessageEntry; position: number };

/**
 * The conversation in order, with an index by message id and by tool call id.
 *
 * Ids may occur twice (two results under one id); then the first in order is meant, as in clients
 * that search from the start.
 */
export class MessageStore {
  readonly #limits: ReduceLimits;
  #entries: MessageEntry[] = [];
  #byId = new Map<string, MessageEntry>();
  readonly #calls = new SmallMap<string, CallLocation>();
  #view: readonly Message[] | undefined;

  constructor(messages: readonly Message[], limits: ReduceLimits) {
    this.#limits = limits;
    this.reset(messages);
  }

  /** The messages: the same array until something changes. */
  view(): readonly Message[] {
    return (this.#view ??= this.#entries.map((entry) => entry.view()));
  }

  /** The messages as they stand, not to be kept. */
  current(): Message[] {
    return this.#entries.map((entry) => entry.current);
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  /** The first message with the id. */
  find(id: string): MessageEntry | undefined {
    return this.#byId.get(id);
  }

  /** The first tool call with the id. */
  findCall(id: string): CallLocation | undefined {
    return this.#calls.get(id);
  }

  /** Says that a message was altered through its entry. */
  changed(): void {
    this.#view = undefined;
  }

  /** Replaces the whole conversation. */
  reset(messages: readonly Message[]): void {
    requireWithin("maxMessages", messages.length, this.#limits);
    this.#entries = messages.map((message) => new MessageEntry(message));
    this.#reindex();
  }

  append(message: Message): MessageEntry {
    return this.#insert(this.#entries.length, message);
  }

  /** Puts a tool message after the assistant message of its call and that one's earlier results. */
  insertResult(message: Message, toolCallId: string): void {
    const owner = this.#calls.get(toolCallId);
    if (owner === undefined) {
      this.append(message);
      return;
    }
    let index = this.#entries.indexOf(owner.entry) + 1;
    while (this.#entries[index]?.current.role === "tool") index++;
    this.#insert(index, message);
  }

  /** Puts another message into the place of one. */
  replace(entry: MessageEntry, message: Message): void {
    const hadCalls = entry.current.role === "assistant";
    entry.replace(message);
    if (hadCalls) this.#reindex();
    this.changed();
  }

  addCall(entry: MessageEntry, call: ToolCall): CallLocation {
    requireWithin("maxUnits", this.#calls.size + 1, this.#limits);
    const place = { entry, position: entry.addCall(call) };
    this.#calls.set(call.id, place);
    this.changed();
    return place;
  }

  #insert(index: number, message: Message): MessageEntry {
    requireWithin("maxMessages", this.#entries.length + 1, this.#limits);
    const entry = new MessageEntry(message);
    const isLast = index === this.#entries.length;
    this.#entries.splice(index, 0, entry);
    const twin = this.#byId.get(message.id);
    if (twin === undefined || (!isLast && this.#entries.indexOf(twin) > index)) {
      this.#byId.set(message.id, entry);
    }
    this.#indexCalls(entry);
    this.changed();
    return entry;
  }

  #reindex(): void {
    this.#byId = new Map();
    this.#calls.clear();
    for (const entry of this.#entries) {
      const { id } = entry.current;
      if (!this.#byId.has(id)) this.#byId.set(id, entry);
      this.#indexCalls(entry);
    }
    this.changed();
  }

  #indexCalls(entry: MessageEntry): void {
    const message = entry.current;
    if (message.role !== "assistant" || message.toolCalls === undefined) return;
    for (const [position, call] of message.toolCalls.entries()) {
      if (!this.#calls.has(call.id)) this.#calls.set(call.id, { entry, position });
    }
    requireWithin("maxUnits", this.#calls.size, this.#limits);
  }
}
