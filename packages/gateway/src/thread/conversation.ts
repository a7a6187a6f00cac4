import { CountersignError, SmallMap } from "@countersign/core";
import type { Message } from "@countersign/wire";
import "../base/errors.js";
import { HeldMessage } from "./held-message.js";
import type { HeldCall } from "./held-message.js";
import type { HeldPlace } from "./held-thread.js";
import { isRecordOf, isSameRecord } from "./message-record.js";
import type { MessageRecord } from "./message-record.js";

/**
 * Maximum messages of one thread. Beyond it the thread fails: forgetting a message would be unsafe.
 */
export const MAX_MESSAGES = 20_000;

const SHORT = 16;

/**
 * One message of the conversation. A message of an earlier run becomes a `HeldMessage` only when
 * this run writes into it. A message that the request did not repeat has the ledger's record, and a
 * source without text.
 */
type Place = { readonly source: Message; readonly record?: MessageRecord; held?: HeldMessage };

/**
 * The conversation as the official client's reducer keeps it: the order of messages, and the
 * message of each call.
 */
export class Conversation {
  #places: Place[];
  readonly #byId = new SmallMap<string, Place>();
  readonly #calls = new SmallMap<string, { place: Place; call: HeldCall | string }>();

  constructor(places: readonly HeldPlace[]) {
    assertRoom(places.length);
    this.#places = places.map((place) =>
      place.record === undefined
        ? { source: place.source }
        : { source: outlineOf(place.id, place.record), record: place.record },
    );
    this.#index();
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  roleOf(id: string): Message["role"] | undefined {
    return this.#byId.get(id)?.source.role;
  }

  /** The message of an id, opened for writing. */
  find(id: string): HeldMessage | undefined {
    const place = this.#byId.get(id);
    return place === undefined ? undefined : open(place);
  }

  /**
   * True when the conversation has this message unchanged, and this run has not written into it.
   */
  holds(message: Message): boolean {
    const place = this.#byId.get(message.id);
    if (place === undefined || place.held !== undefined) return false;
    const { source, record } = place;
    if (record !== undefined) return isRecordOf(record, message);
    return source === message || isSameRecord(source, message);
  }

  append(source: Message): HeldMessage {
    return this.#insert(this.#places.length, source);
  }

  /** Inserts a tool result after the message of its call and that call's earlier results. */
  insertToolResult(source: Message, toolCallId: string): HeldMessage {
    const owner = this.#calls.get(toolCallId)?.place;
    if (owner === undefined) return this.append(source);
    let index = this.#places.indexOf(owner) + 1;
    while (this.#places[index]?.source.role === "tool") index += 1;
    return this.#insert(index, source);
  }

  /** The call of an id with its message, opened for writing. */
  findCall(id: string): { message: HeldMessage; call: HeldCall } | undefined {
    const found = this.#calls.get(id);
    if (found === undefined) return undefined;
    const message = open(found.place);
    const call =
      typeof found.call === "string"
        ? message.calls.find((candidate) => candidate.id === id)
        : found.call;
    return call === undefined ? undefined : { message, call };
  }

  addCall(message: HeldMessage, call: HeldCall): void {
    message.calls.push(call);
    const place = this.#byId.get(message.id);
    if (place !== undefined) this.#calls.set(call.id, { place, call });
  }

  /** Replaces a message with another of the same id. */
  replace(source: Message): HeldMessage {
    const place = this.#byId.get(source.id);
    if (place === undefined) return this.append(source);
    const next: Place = { source, held: new HeldMessage(source) };
    this.#places[this.#places.indexOf(place)] = next;
    this.#index();
    return open(next);
  }

  /**
   * Keeps the messages that `keep` selects, each replaced by the list's version if there is one,
   * then appends the rest of the list.
   */
  restate(messages: readonly Message[], keep: (message: Message) => boolean): void {
    const incoming = new Map(messages.map((message) => [message.id, message]));
    const places: Place[] = [];
    const known = new Set<string>();
    for (const place of this.#places) {
      const source = incoming.get(place.source.id);
      if (source === undefined && !keep(place.source)) continue;
      known.add(place.source.id);
      places.push(source === undefined ? place : { source });
    }
    for (const source of messages) if (!known.has(source.id)) places.push({ source });
    assertRoom(places.length);
    this.#places = places;
    this.#index();
  }

  /** Ids in order, without activities: clients never send those back. */
  ids(): string[] {
    return this.#places
      .filter(({ source }) => source.role !== "activity")
      .map(({ source }) => source.id);
  }

  #insert(index: number, source: Message): HeldMessage {
    assertRoom(this.#places.length + 1);
    const place: Place = { source, held: new HeldMessage(source) };
    const isLast = index === this.#places.length;
    // Copied while it is short: a growing array reserves room for seventeen entries, in every idle
    // stream.
    if (this.#places.length < SHORT) this.#places = this.#places.toSpliced(index, 0, place);
    else this.#places.splice(index, 0, place);
    if (!this.#byId.has(source.id)) this.#byId.set(source.id, place);
    else if (!isLast) this.#index();
    return open(place);
  }

  #index(): void {
    this.#byId.clear();
    this.#calls.clear();
    for (const place of this.#places) {
      const { source, held } = place;
      if (!this.#byId.has(source.id)) this.#byId.set(source.id, place);
      if (held !== undefined) {
        for (const call of held.calls) this.#addIndex(place, call.id, call);
      } else if (source.role === "assistant") {
        for (const call of source.toolCalls ?? []) this.#addIndex(place, call.id, call.id);
      }
    }
  }

  #addIndex(place: Place, id: string, call: HeldCall | string): void {
    if (!this.#calls.has(id)) this.#calls.set(id, { place, call });
  }
}

function open(place: Place): HeldMessage {
  return (place.held ??= new HeldMessage(place.source, place.record));
}

/** The message as far as its record tells: its role, and its calls by name. */
function outlineOf(id: string, { role, calls }: MessageRecord): Message {
  const toolCalls = calls?.map(({ id: callId, name }) => ({
    id: callId,
    type: "function",
    function: { name, arguments: "" },
  }));
  return { id, role, ...(toolCalls === undefined ? {} : { toolCalls }) } as unknown as Message;
}

/** Throws when a thread would have too many messages. */
export function assertRoom(size: number): void {
  if (size <= MAX_MESSAGES) return;
  const message = "the thread has more messages than are kept";
  throw new CountersignError("ERR_LEDGER_FULL", message, { limit: MAX_MESSAGES });
}
