import type { JsonObject } from "@countersign/core";
import { createContentReader } from "@countersign/policy";
import type { ContentFinding, ContentReader, ContentSettings } from "@countersign/policy";
import type { AgUiEvent, Message } from "@countersign/wire";
import type { Passage } from "../pipeline/passage.js";
import type { Run } from "../pipeline/run.js";

/** Reads the text of a run for what its policy asks, each message as one however it is cut. */
export class ContentWatch {
  readonly #reader: ContentReader;
  readonly #sent: readonly Message[];
  #listed: readonly Message[] | undefined;
  #echoed: readonly Message[] | undefined;

  constructor(settings: ContentSettings, sent: readonly Message[]) {
    this.#sent = sent;
    this.#reader = createContentReader(settings, (id) => this.#earlier(id));
  }

  /** What an event brings that the policy asks for. */
  read({ event, claim }: Passage): ContentFinding | null {
    return this.#reader.read((claim?.envelope ?? event) as unknown as JsonObject);
  }

  /** Takes note of the messages in a list that leaves for the person: what they say there is what they say. */
  see(event: AgUiEvent): void {
    if (event.type === "RUN_STARTED") this.#echoed = event.input?.messages ?? this.#echoed;
    if (event.type !== "MESSAGES_SNAPSHOT") return;
    this.#listed = event.messages;
    for (const { id } of event.messages) this.#reader.forget(id);
  }

  /** What the person has of a message already: an agent may open it again and go on. */
  #earlier(id: string): string | undefined {
    return textOf(this.#listed, id) ?? textOf(this.#sent, id) ?? textOf(this.#echoed, id);
  }
}

/** Opens the watch over one run; none where its policy asks for nothing. */
export function openContent({ policy, input }: Run): ContentWatch | undefined {
  return policy.content === undefined
    ? undefined
    : new ContentWatch(policy.content, input.messages);
}

function textOf(messages: readonly Message[] | undefined, id: string): string | undefined {
  const content = messages?.find((message) => message.id === id)?.content;
  return typeof content === "string" ? content : undefined;
}
