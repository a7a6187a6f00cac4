import { canonicalJson, parseJson } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { AgUiEvent, AssistantMessage, EventOf, Message, ToolCall } from "@countersign/wire";
import { createReducer } from "@countersign/wire/reduce";
import type { Reducer } from "@countersign/wire/reduce";

/** A message of the thread that the client may have and did not send: its text is not available. */
export type UnsentMessage = {
  readonly id: string;
  /** The connection broke off during its run: a list may bring it or leave it out. */
  readonly isOptional: boolean;
  readonly role: Message["role"];
  /** Whether a listed message has the same content. */
  matches(message: Message): boolean;
  readonly calls: readonly { readonly id: string; matches(call: ToolCall): boolean }[];
};

/** The known messages of a client when a run starts. */
export type HeldMessages = {
  /** The messages that the request repeats. */
  readonly sent: readonly Message[];
  /** The others of the thread, in order. */
  readonly unsent?: readonly UnsentMessage[];
  /** The thread's order where the request has another: ids of messages. A list may have either. */
  readonly order?: readonly string[] | undefined;
  /** Whether a message is removed from a list anyway. */
  readonly isWithheld?: (message: Message) => boolean;
};

/** More than a request and a run may contain by default; beyond this the messages are unknown. */
const LIMITS = { maxMessages: 20_000, maxCharacters: 16 * 1024 * 1024 };

/** Events that change the client's conversation. */
const FOLLOWED =
  /^(?:TEXT_MESSAGE|TOOL_CALL|REASONING_MESSAGE|ACTIVITY)_|^(?:MESSAGES_SNAPSHOT|RUN_STARTED)$/;

/**
 * The messages of a client, to find out whether a message list leaves them unchanged. A list does
 * no more than a stream could if it repeats the client's messages in order and adds others after
 * them.
 */
export class ClientMessages {
  readonly #held: HeldMessages;
  /** The messages from before this run, each with its position. */
  readonly #past: ReadonlyMap<string, number>;
  /** Undefined once the messages cannot be followed: then every list may change them. */
  #reducer: Reducer | undefined;
  #indexed: { readonly held: readonly Message[]; readonly ids: ReadonlySet<string> } | undefined;

  constructor(held: HeldMessages) {
    this.#held = held;
    const unsent = held.unsent ?? [];
    this.#past = positionsOf([...unsent, ...held.sent].map(({ id }) => id));
    this.#attempt(() => {
      this.#reducer = createReducer({ messages: held.sent }, LIMITS);
    });
  }

  /** Records a delivered event. */
  see(event: AgUiEvent): boolean {
    if (!FOLLOWED.test(event.type)) return false;
    this.#attempt(() => this.#reducer?.push(event));
    return true;
  }

  /**
   * Whether a list removes nothing, changes nothing, moves nothing and inserts nothing in between.
   */
  isKeptBy(event: EventOf<"MESSAGES_SNAPSHOT">): boolean {
    const { messages } = event;
    if (this.#reducer === undefined) return false;
    const list = Listed.of(messages);
    if (list === undefined) return false;
    const held = this.#reducer.snapshot().messages;
    const { unsent = [], isWithheld } = this.#held;
    const isKnown = (id: string): boolean => this.#past.has(id) || this.#idsOf(held).has(id);
    const isOfHeld = new Set<Message>();
    const renamed: string[] = [];
    const places: ListedPlace[] = [];
    let pastEnd = -1;
    const take = ({ id, role }: Message, found: number): void => {
      const listed = messages[found];
      if (listed !== undefined) isOfHeld.add(listed);
      if (this.#past.has(id)) pastEnd = Math.max(pastEnd, found);
      // A result follows its call, wherever that is.
      if (role !== "tool") places.push({ id, found });
    };
    for (const one of unsent) {
      if (this.#idsOf(held).has(one.id)) continue;
      const found = list.indexOf(one.id);
      if (found === undefined && one.isOptional) continue;
      const listed = found === undefined ? undefined : messages[found];
      if (found === undefined || listed === undefined || !one.matches(listed)) return false;
      const isWhole = one.calls.every((before) => {
        const call = list.calls.get(before.id)?.call;
        return call !== undefined && before.matches(call);
      });
      if (!isWhole) return false;
      take(listed, found);
    }
    for (const message of held) {
      const found = list.find(message, isKnown, this.#past.has(message.id));
      if (found === "lost") return false;
      if (found !== undefined) take(message, found);
      const listed = found === undefined ? undefined : messages[found];
      if (listed !== undefined && listed.id !== message.id) renamed.push(listed.id);
    }
    if (!this.#isInOrder(places)) return false;
    const isWithoutInsertion = messages.every(
      (message, index) =>
        index > pastEnd || isOfHeld.has(message) || !isInsertion(message) || isWithheld?.(message),
    );
    return isWithoutInsertion && (renamed.length === 0 || keepsTurnOrder(held, event, renamed));
  }

  /**
   * Whether a list has the client's messages in the order of the request, after those that it does not repeat, or in that of the thread.
   * New messages come after them. A list within the run may have given the client another order, in which it keeps its messages anyway.
   */
  #isInOrder(places: readonly ListedPlace[]): boolean {
    if (isRising(places, this.#past)) return true;
    const { order } = this.#held;
    return order !== undefined && isRising(places, positionsOf(order));
  }

  /** The ids of the conversation, collected again only after it has changed: a short list asks for few of them. */
  #idsOf(held: readonly Message[]): ReadonlySet<string> {
    if (this.#indexed?.held !== held) {
      this.#indexed = { held, ids: new Set(held.map(({ id }) => id)) };
    }
    return this.#indexed.ids;
  }

  #attempt(act: () => void): void {
    try {
      act();
    } catch {
      this.#reducer = undefined;
    }
  }
}

/** A message of the client, and its position in a list. */
type ListedPlace = { readonly id: string; readonly found: number };

const NOWHERE: ReadonlyMap<string, number> = new Map();

function positionsOf(ids: readonly string[]): ReadonlyMap<string, number> {
  return ids.length === 0 ? NOWHERE : new Map(ids.map((id, position) => [id, position]));
}

/** Whether a list has these messages in an order; those without a position come last. */
function isRising(places: readonly ListedPlace[], order: ReadonlyMap<string, number>): boolean {
  const positionOf = ({ id }: ListedPlace): number => order.get(id) ?? order.size;
  const sorted = places.toSorted((one, other) => positionOf(one) - positionOf(other));
  return sorted.every(({ found }, index) => found >= (sorted[index - 1]?.found ?? -1));
}

/**
 * Whether messages with another id in the list follow as many user messages in the client as in the
 * list. The client puts new ids at the end, whatever their position in the list.
 */
function keepsTurnOrder(
  held: readonly Message[],
  event: EventOf<"MESSAGES_SNAPSHOT">,
  renamed: readonly string[],
): boolean {
  const reducer = createReducer({ messages: held }, LIMITS);
  reducer.push(event);
  const after = questionsBefore(reducer.snapshot().messages);
  const listed = questionsBefore(event.messages);
  return renamed.every((id) => after.get(id) === listed.get(id));
}

/** For each message, the number of user messages before it. */
function questionsBefore(messages: readonly Message[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  let questions = 0;
  for (const message of messages) {
    counts.set(message.id, questions);
    if (message.role === "user") questions += 1;
  }
  return counts;
}

/** A new message that fits only at the end of a conversation; results follow their calls. */
function isInsertion({ role }: Message): boolean {
  return role === "assistant" || role === "reasoning" || role === "activity";
}

/** Whether the client may have a message of this id. */
type IsKnown = (id: string) => boolean;

/** An indexed message list. */
class Listed {
  readonly #messages: readonly Message[];
  readonly #places = new Map<string, number>();
  readonly calls = new Map<string, { readonly call: ToolCall; readonly place: number }>();
  readonly #results = new Map<string, { readonly content: string; readonly place: number }>();
  readonly #hasReasoning: boolean;
  /** Positions without a matching message so far, in order. */
  #newTexts: Map<string, number[]> | undefined;

  private constructor(messages: readonly Message[]) {
    this.#messages = messages;
    this.#hasReasoning = messages.some(({ role }) => role === "reasoning");
  }

  /** Undefined for a list with a duplicate id: clients differ in which one they show. */
  static of(messages: readonly Message[]): Listed | undefined {
    const list = new Listed(messages);
    for (const [place, message] of messages.entries()) {
      if (list.#places.has(message.id)) return undefined;
      list.#places.set(message.id, place);
      if (message.role === "tool") {
        list.#results.set(message.toolCallId, { content: textOf(message.content), place });
      }
      for (const call of message.role === "assistant" ? (message.toolCalls ?? []) : []) {
        if (list.calls.has(call.id)) return undefined;
        list.calls.set(call.id, { call, place });
      }
    }
    return list;
  }

  indexOf(id: string): number | undefined {
    return this.#places.get(id);
  }

  /** The position of a client's message in the list; undefined where it does not matter. */
  find(message: Message, isKnown: IsKnown, isPast: boolean): number | "lost" | undefined {
    switch (message.role) {
      case "assistant":
        return this.#findAssistant(message, isKnown);
      case "tool": {
        const result = this.#results.get(message.toolCallId);
        if (result?.content === textOf(message.content)) return result.place;
        // Messages that the request answers are put back and restored one by one.
        return isPast ? undefined : "lost";
      }
      case "reasoning": {
        const listed = this.#at(message.id);
        if (listed === undefined) return this.#hasReasoning ? "lost" : undefined;
        return goesOn(message, listed) ? this.#places.get(message.id) : "lost";
      }
      case "activity":
        return undefined;
      default:
        // User messages are put back and restored one by one.
        return this.#places.get(message.id);
    }
  }

  #findAssistant(message: AssistantMessage, isKnown: IsKnown): number | "lost" | undefined {
    let place: number | undefined;
    if (textOf(message.content) !== "") {
      const own = this.#at(message.id);
      place = own === undefined ? this.#sameText(message, isKnown) : this.#places.get(message.id);
      if (place === undefined || (own !== undefined && !goesOn(message, own))) return "lost";
    }
    for (const call of message.toolCalls ?? []) {
      const listed = this.calls.get(call.id);
      if (listed === undefined || !isSameCall(call, listed.call)) return "lost";
      place ??= listed.place;
    }
    return place ?? this.#places.get(message.id);
  }

  /**
   * Frameworks give a streamed message another id in their list: it is the one with the same text.
   */
  #sameText({ content }: Message, isKnown: IsKnown): number | undefined {
    this.#newTexts ??= this.#placesByText(isKnown);
    return this.#newTexts.get(textOf(content))?.shift();
  }

  /** The positions of answers whose id the client does not have, by text. */
  #placesByText(isKnown: IsKnown): Map<string, number[]> {
    const places = new Map<string, number[]>();
    for (const [place, { id, role, content }] of this.#messages.entries()) {
      if (role !== "assistant" || isKnown(id)) continue;
      const text = textOf(content);
      const same = places.get(text);
      if (same === undefined) places.set(text, [place]);
      else same.push(place);
    }
    return places;
  }

  #at(id: string): Message | undefined {
    const place = this.#places.get(id);
    return place === undefined ? undefined : this.#messages[place];
  }
}

/**
 * Whether a listed message has the client's text, possibly with more after it; its extra members
 * may be lost, not changed.
 */
function goesOn(message: Message, listed: Message): boolean {
  if (listed.role !== message.role) return false;
  if (!textOf(listed.content).startsWith(textOf(message.content))) return false;
  return (["name", "subagentRunId"] as const).every((field) => {
    const [before, after] = [memberOf(message, field), memberOf(listed, field)];
    return before === undefined || after === undefined || before === after;
  });
}

function memberOf(message: Message, field: string): unknown {
  return (message as unknown as Readonly<Record<string, unknown>>)[field] ?? undefined;
}

/** Frameworks rewrite arguments; while they still arrive, a list may be ahead. */
function isSameCall(call: ToolCall, listed: ToolCall): boolean {
  if (call.function.name !== listed.function.name) return false;
  const [before, after] = [call.function.arguments, listed.function.arguments];
  return meaningOf(before) === meaningOf(after) || (!isJson(before) && after.startsWith(before));
}

function meaningOf(text: string): string {
  try {
    return canonicalJson(text === "" ? {} : parseJson(text));
  } catch {
    return text;
  }
}

function isJson(text: string): boolean {
  try {
    parseJson(text);
    return true;
  } catch {
    return false;
  }
}

/** A content as one text; empty, null and absent are the same. */
function textOf(content: Message["content"] | null): string {
  if (content === undefined || content === null) return "";
  return typeof content === "string" ? content : canonicalJson(content as unknown as JsonValue);
}
