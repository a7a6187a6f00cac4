import type { JsonObject } from "@countersign/core";
import { createContentReader } from "@countersign/policy";
import type { ContentFinding, ContentReader, ContentSettings } from "@countersign/policy";
import type { AgUiEvent, Message } from "@countersign/wire";
import type { Passage } from "../pipeline/passage.js";
import type { Run } from "../pipeline/run.js";

/** Reads the text of a run for what its policy asks, each message as one however it is cut. */
export class ContentWatch {
  readonly #reader: ContentReader;
  readonly #sent: TextsById;
  #listed: TextsById | undefined;
  #echoed: TextsById | undefined;

  constructor(settings: ContentSettings, sent: readonly Message[]) {
    this.#sent = new TextsById(sent);
    this.#reader = createContentReader(settings, (id) => this.#earlier(id));
  }

  /** What an event brings that the policy asks for. */
  read({ event, claim }: Passage): ContentFinding | null {
    return this.#reader.read((claim?.envelope ?? event) as unknown as JsonObject);
  }

  /** Takes note of the messages in a list that leaves for the person: what they say there is what they say. */
  see(event: AgUiEvent): void {
    if (event.type === "RUN_STARTED" && event.input !== undefined) {
      this.#echoed = new TextsById(event.input.messages);
    }
    if (event.type !== "MESSAGES_SNAPSHOT") return;
    this.#listed = new TextsById(event.messages);
    for (const { id } of event.messages) this.#reader.forget(id);
  }

  /** What the person has of a message already: an agent may open it again and go on. */
  #earlier(id: string): string | undefined {
    return this.#listed?.find(id) ?? this.#sent.find(id) ?? this.#echoed?.find(id);
  }
}

/** Opens the watch over one run; none where its policy asks for nothing. */
export function openContent({ policy, input }: Run): ContentWatch | undefined {
  return policy.content === undefined
    ? undefined
    : new ContentWatch(policy.content, input.messages);
}

/** The texts of a message list by id, the first of each; a list is read once, when it is asked first. */
class TextsById {
  readonly #messages: readonly Message[];
  #texts: Map<string, string | undefined> | undefined;

  constructor(messages: readonly Message[]) {
    this.#messages = messages;
  }

  find(id: string): string | undefined {
    this.#texts ??= new Map(
      this.#messages.toReversed().map(({ id: own, content }) => [own, textOf(content)]),
    );
    return this.#texts.get(id);
  }
}

function textOf(content: Message["content"]): string | undefined {
  return typeof content === "string" ? content : undefined;
}
