import { CountersignError, SmallMap } from "@countersign/core";
import type { Message } from "@countersign/wire";
import "../base/errors.js";
import { ClientMessage } from "./client-message.js";
import type { ClientCall } from "./client-message.js";
import type { ClientPlace } from "./earlier-thread.js";
import { isRecordOf, isSameRecord } from "./message-record.js";
import type { MessageRecord } from "./message-record.js";

/** Maximum messages of one thread. Beyond it the thread fails: forgetting a message would be unsafe. */
export const MAX_MESSAGES = 20_000;

const SHORT = 16;

/**
 * One message. It gets a `ClientMessage` only when this run writes into it. A message that the request did not repeat
 * has the ledger's record, and a source without text.
 */
type Place = { readonly source: Message; readonly record?: MessageRecord; held?: ClientMessage };

/** The conversation as the official client's reducer keeps it: the order of messages, and the message of each call. */
export class Conversation {
  #places: Place[];
  /** The order of a client that has only the messages it sent; `undefined` where `#places` is that order. */
  #ownPlaces: Place[] | undefined;
  readonly #byId = new SmallMap<string, Place>();
  readonly #calls = new SmallMap<string, { place: Place; call: ClientCall | string }>();

  /** @param sent the messages of the request, in its order */
  constructor(places: readonly ClientPlace[], sent: readonly Message[]) {
    assertRoom(places.length);
    this.#places = places.map((place) =>
      place.record === undefined
        ? { source: place.source }
        : { source: outlineOf(place.id, place.record), record: place.record },
    );
    const isOrderOfRequest =
      places.length === sent.length && places.every(({ source }, index) => source === sent[index]);
    if (!isOrderOfRequest) {
      const bySource = new Map(this.#places.map((place) => [place.source, place]));
      this.#ownPlaces = sent.flatMap((source) => bySource.get(source) ?? []);
    }
    this.#index();
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  roleOf(id: string): Message["role"] | undefined {
    return this.#byId.get(id)?.source.role;
  }

  /** The message of an id, opened for writing. */
  find(id: string): ClientMessage | undefined {
    const place = this.#byId.get(id);
    return place === undefined ? undefined : open(place);
  }

  /** True when the conversation has this message unchanged, and this run has not written into it. */
  holds(message: Message): boolean {
    const place = this.#byId.get(message.id);
    if (place === undefined || place.held !== undefined) return false;
    const { source, record } = place;
    if (record !== undefined) return isRecordOf(record, message);
    return source === message || isSameRecord(source, message);
  }

  append(source: Message): ClientMessage {
    return this.#insert(source, undefined);
  }

  /** Inserts a tool result after the message of its call and that call's earlier results. */
  insertToolResult(source: Message, toolCallId: string): ClientMessage {
    return this.#insert(source, this.#calls.get(toolCallId)?.place);
  }

  /** The call of an id with its message, opened for writing. */
  findCall(id: string): { message: ClientMessage; call: ClientCall } | undefined {
    const found = this.#calls.get(id);
    if (found === undefined) return undefined;
    const message = open(found.place);
    const call =
      typeof found.call === "string"
        ? message.calls.find((candidate) => candidate.id === id)
        : found.call;
    call?.changes();
    return call === undefined ? undefined : { message, call };
  }

  addCall(message: ClientMessage, call: ClientCall): void {
    message.calls.push(call);
    const place = this.#byId.get(message.id);
    if (place !== undefined) this.#calls.set(call.id, { place, call });
  }

  /** Replaces a message with another of the same id. */
  replace(source: Message): ClientMessage {
    const place = this.#byId.get(source.id);
    if (place === undefined) return this.append(source);
    const next: Place = { source, held: new ClientMessage(source) };
    for (const places of [this.#places, this.#ownPlaces ?? []]) {
      const index = places.indexOf(place);
      if (index !== -1) places[index] = next;
    }
    // An activity that changes with each event must not cost a pass over the whole thread.
    if (isCalling(place) || isCalling(next)) this.#index();
    else this.#byId.set(source.id, next);
    return open(next);
  }

  /**
   * Keeps the messages that `keep` selects, each in the list's version if there is one, then appends the rest of the
   * list.
   */
  restate(messages: readonly Message[], keep: (message: Message) => boolean): void {
    const listed = new Map(messages.map((source): [Message, Place] => [source, { source }]));
    const incoming = new Map([...listed.values()].map((place) => [place.source.id, place]));
    const restated = (before: readonly Place[]): Place[] => {
      const known = new Set<string>();
      const places = before.flatMap((place) => {
        const { id } = place.source;
        if (!incoming.has(id) && !keep(place.source)) return [];
        known.add(id);
        return incoming.get(id) ?? place;
      });
      return [...places, ...[...listed.values()].filter(({ source }) => !known.has(source.id))];
    };
    const places = restated(this.#places);
    assertRoom(places.length);
    this.#ownPlaces &&= restated(this.#ownPlaces);
    this.#places = places;
    this.#index();
  }

  /** Ids in order, without activities: clients never send those back. */
  ids(): string[] {
    return idsOf(this.#places);
  }

  /** Ids in the order of a client that has only the messages it sent; `undefined` where it is that of `ids`. */
  ownIds(): string[] | undefined {
    return this.#ownPlaces && idsOf(this.#ownPlaces);
  }

  /** Inserts a message after the results of `owner`, or as the last one. */
  #insert(source: Message, owner: Place | undefined): ClientMessage {
    assertRoom(this.#places.length + 1);
    const place: Place = { source, held: new ClientMessage(source) };
    this.#places = inserted(this.#places, place, owner);
    this.#ownPlaces &&= inserted(this.#ownPlaces, place, owner);
    const twin = this.#byId.get(source.id);
    // The first of two messages with one id counts. Only a tool result, which has no calls, is inserted before others.
    if (twin === undefined || this.#places.indexOf(place) < this.#places.indexOf(twin)) {
      this.#byId.set(source.id, place);
    }
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

  #addIndex(place: Place, id: string, call: ClientCall | string): void {
    if (!this.#calls.has(id)) this.#calls.set(id, { place, call });
  }
}

/** Whether the index of calls may name the message. */
function isCalling({ source }: Place): boolean {
  return source.role === "assistant";
}

function idsOf(places: readonly Place[]): string[] {
  return places.filter(({ source }) => source.role !== "activity").map(({ source }) => source.id);
}

/** Inserts a place after the results of `owner`; as the last one if the order has no `owner`. */
function inserted(places: Place[], place: Place, owner: Place | undefined): Place[] {
  let index = owner === undefined ? -1 : places.indexOf(owner);
  if (index === -1) index = places.length;
  else {
    do index += 1;
    while (places[index]?.source.role === "tool");
  }
  // Copied while it is short: a growing array reserves room for seventeen entries, in every idle stream.
  if (places.length < SHORT) return places.toSpliced(index, 0, place);
  places.splice(index, 0, place);
  return places;
}

function open(place: Place): ClientMessage {
  return (place.held ??= new ClientMessage(place.source, place.record));
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
