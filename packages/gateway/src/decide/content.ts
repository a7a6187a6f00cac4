import type { JsonObject } from "@countersign/core";
import { createContentReader } from "@countersign/policy";
import type { ContentKind } from "@countersign/policy";
import type { AgUiEvent, Message } from "@countersign/wire";
import { upgradeEnvelope } from "@countersign/wire/dialects";
import type { Passage } from "../pipeline/passage.js";
import type { Run } from "../pipeline/run.js";

/** Envelopes name no message: a client that reads them appends what comes, so all of them are one text. */
const ENVELOPES = "\n";

/** Reads the text of a run for what its policy asks, each message as one however it is cut. */
export type ContentWatch = {
  /** What an event brings that the policy asks for. */
  read(passage: Passage): ContentKind | null;
  /** Takes note of the messages in a list that leaves for the person: what they say there is what they say. */
  see(event: AgUiEvent): void;
};

/** Opens the watch over one run; none where its policy asks for nothing. */
export function openContent({ policy, input }: Run): ContentWatch | undefined {
  if (policy.content === undefined) return undefined;
  let listed: readonly Message[] = [];
  let echoed: readonly Message[] = [];
  const earlier = (id: string): string | undefined =>
    textOf(listed, id) ?? textOf(input.messages, id) ?? textOf(echoed, id);
  const reader = createContentReader(policy.content, earlier);
  return {
    read: ({ event, claim }) => {
      if (claim === undefined) return reader.read(event as unknown as JsonObject);
      let found: ContentKind | null = null;
      for (const part of upgradeEnvelope(claim.envelope)) {
        found ??= reader.read({ ...part, messageId: ENVELOPES });
      }
      return found;
    },
    see: (event) => {
      if (event.type === "RUN_STARTED") echoed = event.input?.messages ?? echoed;
      if (event.type !== "MESSAGES_SNAPSHOT") return;
      listed = event.messages;
      for (const { id } of listed) reader.forget(id);
    },
  };
}

/** What the person has of a message already: an agent may open it again and go on. */
function textOf(messages: readonly Message[], id: string): string | undefined {
  const content = messages.find((message) => message.id === id)?.content;
  return typeof content === "string" ? content : undefined;
}
