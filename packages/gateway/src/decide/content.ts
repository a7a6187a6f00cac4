import type { JsonObject } from "@countersign/core";
import { createContentReader } from "@countersign/policy";
import type { ContentFinding, ContentReader, ContentSettings } from "@countersign/policy";
import type { Message } from "@countersign/wire";
import type { Passage } from "../pipeline/passage.js";
import type { Run } from "../pipeline/run.js";

/** Reads the text of a run for what its policy asks, each message as one however it is cut. */
export class ContentWatch {
  readonly #reader: ContentReader;

  constructor(settings: ContentSettings, sent: readonly Message[]) {
    const texts = new TextsById(sent);
    this.#reader = createContentReader(settings, (id) => texts.find(id));
  }

  /** What an event brings that the policy asks for. */
  read({ event, claim }: Passage): ContentFinding | null {
    return this.#reader.read((claim?.envelope ?? event) as unknown as JsonObject);
  }

  /** Says whether what was read of an event goes to the person. */
  settle({ event, claim }: Passage, isDelivered: boolean): void {
    this.#reader.settle((claim?.envelope ?? event) as unknown as JsonObject, isDelivered);
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
