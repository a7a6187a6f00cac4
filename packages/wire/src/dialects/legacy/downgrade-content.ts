import type { ContentPart } from "../../model/content.js";
import type { RunAgentInput } from "../../model/input.js";
import type { Message } from "../../model/message.js";
import { childPath } from "../../enforce/note.js";
import type { NoteSink } from "../note.js";

/** The text parts joined: an older tool result is a string, and no placeholder may be invented. */
export function flattenParts(parts: readonly ContentPart[], path: string, note: NoteSink): string {
  note("parts-flattened", path);
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** Messages that an older client can validate: no parts for a tool, no provider's file handles. */
export function downgradeMessages(
  messages: readonly Message[],
  path: string,
  note: NoteSink,
): Message[] {
  return messages.map((message, index) => {
    const at = childPath(childPath(path, index), "content");
    if (message.role === "tool" && typeof message.content !== "string") {
      return { ...message, content: flattenParts(message.content, at, note) };
    }
    if (message.role === "user" && typeof message.content !== "string") {
      return { ...message, content: withoutFileHandles(message.content, at, note) };
    }
    return message;
  });
}

function withoutFileHandles(
  parts: readonly ContentPart[],
  path: string,
  note: NoteSink,
): ContentPart[] {
  return parts.filter((part, index) => {
    if (part.type === "text" || part.source.type !== "file") return true;
    note("part-removed", childPath(path, index));
    return false;
  });
}

/** An input whose lists an older schema requires; an empty list says what their absence said. */
export function downgradeRunInput(
  input: RunAgentInput,
  path: string,
  note: NoteSink,
): RunAgentInput {
  return {
    ...input,
    messages: downgradeMessages(input.messages, childPath(path, "messages"), note),
    tools: input.tools ?? [],
    context: input.context ?? [],
  };
}
