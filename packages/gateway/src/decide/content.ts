import type { JsonObject } from "@countersign/core";
import { createContentReader } from "@countersign/policy";
import type { ContentKind } from "@countersign/policy";
import type { Message } from "@countersign/wire";
import { upgradeEnvelope } from "@countersign/wire/dialects";
import type { Passage } from "../pipeline/passage.js";
import type { Run } from "../pipeline/run.js";

/** Envelopes name no message: a client that reads them appends what comes, so all of them are one text. */
const ENVELOPES = "\n";

/** Reads the text of a run for what its policy asks, each message as one however it is cut. */
export function openContent({
  policy,
  input,
}: Run): ((passage: Passage) => ContentKind | null) | undefined {
  if (policy.content === undefined) return undefined;
  const reader = createContentReader(policy.content, (id) => textOf(input.messages, id));
  return ({ event, claim }) => {
    if (claim === undefined) return reader.read(event as unknown as JsonObject);
    let found: ContentKind | null = null;
    for (const part of upgradeEnvelope(claim.envelope)) {
      found ??= reader.read({ ...part, messageId: ENVELOPES });
    }
    return found;
  };
}

/** What the person has of a message already: an agent may open it again and go on. */
function textOf(messages: readonly Message[], id: string): string | undefined {
  const content = messages.find((message) => message.id === id)?.content;
  return typeof content === "string" ? content : undefined;
}
