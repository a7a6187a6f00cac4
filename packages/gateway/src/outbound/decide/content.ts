import type { JsonObject } from "@countersign/core";
import { createContentReader } from "@countersign/policy";
import type { ContentFinding, ContentReader, ContentSettings } from "@countersign/policy";
import type { AgUiEvent, Message } from "@countersign/wire";
import type { EventContext } from "../../event/event-context.js";
import type { Run } from "../../event/run.js";
import { listOf } from "../../event/unit.js";
import { eventsOfListed } from "./listed.js";

/** Reads the text of a run for the policy's content rules, each message as one text however it is split. */
export class ContentWatch {
  readonly #settings: ContentSettings;
  readonly #reader: ContentReader;
  /** Measures the messages of lists, each on its own. */
  readonly #alone: ContentReader;
  readonly #sent: MessagesById;
  /** Reads the texts of all messages as one, for a client that receives them without message ids. */
  readonly #joined: ContentReader | undefined;
  /** The envelope that `#joined` read last. */
  #envelope: JsonObject | undefined;
  /** The last delivered message list. */
  #listed: MessagesById | undefined;

  constructor(settings: ContentSettings, sent: readonly Message[], isEnvelopeClient = false) {
    this.#settings = settings;
    this.#alone = createContentReader(settings);
    this.#sent = new MessagesById(sent);
    this.#reader = createContentReader(settings, (id) => textOf(this.#sent.find(id)));
    // `max_characters` limits one message.
    const unlimited = { ...settings, maxCharacters: Number.POSITIVE_INFINITY };
    this.#joined = isEnvelopeClient ? createContentReader(unlimited) : undefined;
  }

  /** Reads an event. The message judge reads the messages of a list one by one, if the list is not too long as a whole. */
  read({ event, claim }: EventContext): ContentFinding | null {
    if (claim === undefined && event !== undefined && this.#isTooLong(event)) {
      return { kind: "max_event_characters" };
    }
    const found = this.#reader.read((claim?.envelope ?? event) as unknown as JsonObject);
    this.#envelope = claim === undefined && found === null ? envelopeOf(event) : undefined;
    return this.#envelope === undefined ? found : (this.#joined?.read(this.#envelope) ?? null);
  }

  /** Reports whether an event that was read is delivered. */
  settle({ event, claim }: EventContext, isDelivered: boolean): void {
    this.#reader.settle((claim?.envelope ?? event) as unknown as JsonObject, isDelivered);
    if (this.#envelope !== undefined) this.#joined?.settle(this.#envelope, isDelivered);
  }

  /** Records a delivered event. */
  see(event: AgUiEvent): void {
    if (event.type === "MESSAGES_SNAPSHOT") this.#listed = new MessagesById(event.messages);
  }

  /** Whether the client already has this text of a message: it sent the text, or the previous list contained it. */
  hasText(message: Message): boolean {
    const { id } = message;
    return saysSame(message, this.#sent.find(id)) || saysSame(message, this.#listed?.find(id));
  }

  #isTooLong(event: AgUiEvent): boolean {
    const messages = listOf(event);
    if (messages === undefined) return false;
    let left = this.#settings.maxEventCharacters;
    for (const message of messages) {
      for (const part of eventsOfListed(message, this.hasText(message))) {
        left -= this.#alone.measure(part as unknown as JsonObject);
      }
      if (left < 0) return true;
    }
    return false;
  }
}

/** Opens the watch over one run; `undefined` if its policy has no content rules. */
export function openContent({ policy, input, clientDialect }: Run): ContentWatch | undefined {
  return policy.content === undefined
    ? undefined
    : new ContentWatch(policy.content, input.messages, clientDialect === "envelope");
}

/** The text of an event as a client that requested envelopes receives it. */
function envelopeOf(event: AgUiEvent | undefined): JsonObject | undefined {
  switch (event?.type) {
    case "TEXT_MESSAGE_CONTENT":
      return { event_type: "text_stream", payload: { text: event.delta } };
    case "REASONING_MESSAGE_CONTENT":
      return { event_type: "text_stream", payload: { delta: event.delta } };
    default:
      return undefined;
  }
}

/** The messages of a list by id, the first of each. A list is indexed once, at the first lookup. */
class MessagesById {
  readonly #messages: readonly Message[];
  #byId: Map<string, Message> | undefined;

  constructor(messages: readonly Message[]) {
    this.#messages = messages;
  }

  find(id: string): Message | undefined {
    this.#byId ??= new Map(this.#messages.toReversed().map((message) => [message.id, message]));
    return this.#byId.get(id);
  }
}

function textOf(message: Message | undefined): string | undefined {
  return typeof message?.content === "string" ? message.content : undefined;
}

function saysSame(message: Message, other: Message | undefined): boolean {
  const text = textOf(message);
  return text !== undefined && text === textOf(other) && message.role === other?.role;
}
