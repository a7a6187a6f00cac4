import type { JsonObject } from "@countersign/core";
import { createContentReader } from "@countersign/policy";
import type { ContentFinding, ContentReader, ContentSettings } from "@countersign/policy";
import type { AgUiEvent, Message } from "@countersign/wire";
import type { EventContext } from "../../event/event-context.js";
import type { Run } from "../../event/run.js";
import { eventsOfListed } from "./listed.js";

/** Reads the text of a run for the policy's content rules, each message as one text however it is split. */
export class ContentWatch {
  readonly #settings: ContentSettings;
  readonly #reader: ContentReader;
  /** Measures the messages of lists, each on its own. */
  readonly #alone: ContentReader;
  readonly #sent: MessagesById;
  /** The last delivered message list. */
  #listed: MessagesById | undefined;

  constructor(settings: ContentSettings, sent: readonly Message[]) {
    this.#settings = settings;
    this.#alone = createContentReader(settings);
    this.#sent = new MessagesById(sent);
    this.#reader = createContentReader(settings, (id) => textOf(this.#sent.find(id)));
  }

  /** Reads an event. The message judge reads the messages of a list one by one, if the list is not too long as a whole. */
  read({ event, claim }: EventContext): ContentFinding | null {
    if (claim === undefined && event !== undefined && this.#isTooLong(event)) {
      return { kind: "max_event_characters" };
    }
    return this.#reader.read((claim?.envelope ?? event) as unknown as JsonObject);
  }

  /** Reports whether an event that was read is delivered. */
  settle({ event, claim }: EventContext, isDelivered: boolean): void {
    this.#reader.settle((claim?.envelope ?? event) as unknown as JsonObject, isDelivered);
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

function listOf(event: AgUiEvent): readonly Message[] | undefined {
  if (event.type === "MESSAGES_SNAPSHOT") return event.messages;
  return event.type === "RUN_STARTED" ? event.input?.messages : undefined;
}

/** Opens the watch over one run; `undefined` if its policy has no content rules. */
export function openContent({ policy, input }: Run): ContentWatch | undefined {
  return policy.content === undefined
    ? undefined
    : new ContentWatch(policy.content, input.messages);
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
