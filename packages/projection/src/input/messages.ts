import type { JsonObject } from "@countersign/core";
import type { ContentPart, Message, Role } from "@countersign/wire";
import { METADATA_KEY } from "../frames/names.js";
import { isRecord } from "../safe/value.js";
import type { LoweringIssues } from "./issues.js";

/** A message for the runtime, marked as the client's. */
export type LoweredMessage = {
  id: string;
  role: Role;
  content?: string;
  name?: string;
  toolCallId?: string;
  /** Calls by name. Arguments that were redacted on output are not arguments. */
  toolCalls?: { id: string; name: string; arguments?: string }[];
};

/** The messages whose role the client may use. */
export function lowerMessages(
  messages: readonly Message[],
  roles: ReadonlySet<Role>,
  issues: LoweringIssues,
): LoweredMessage[] {
  const lowered: LoweredMessage[] = [];
  for (const [index, message] of messages.entries()) {
    const path = `/messages/${index}`;
    if (!roles.has(message.role)) issues.drop("role-not-allowed", path);
    else lowered.push(lowerMessage(message, path, issues));
  }
  return lowered;
}

/** The text of the last user message. */
export function intentOf(
  messages: readonly Message[],
  issues: LoweringIssues,
): { text: string; index: number } | undefined {
  const index = messages.findLastIndex(({ role }) => role === "user");
  const message = messages[index];
  if (message?.role !== "user") return undefined;
  return { text: textOf(message.content, `/messages/${index}`, issues), index };
}

function lowerMessage(message: Message, path: string, issues: LoweringIssues): LoweredMessage {
  const lowered: LoweredMessage = { id: message.id, role: message.role };
  if (message.role === "activity") return lowered;
  // The parts of the intent were reported when it was read.
  const silent = { drop: () => undefined };
  if (message.content !== undefined) lowered.content = textOf(message.content, path, silent);
  if ("name" in message && message.name !== undefined) lowered.name = message.name;
  if (message.role === "tool") lowered.toolCallId = message.toolCallId;
  if (message.role === "assistant" && message.toolCalls !== undefined) {
    lowered.toolCalls = message.toolCalls.map((call, index) => {
      const facts = { id: call.id, name: call.function.name };
      if (!isRedacted(call.metadata)) return { ...facts, arguments: call.function.arguments };
      issues.drop("redacted-arguments", `${path}/toolCalls/${index}`);
      return facts;
    });
  }
  return lowered;
}

function isRedacted(metadata: JsonObject | undefined): boolean {
  const ours = metadata?.[METADATA_KEY];
  return isRecord(ours) && ours["redacted"] === true;
}

/** Only text is used: media, addresses and file handles are not followed. */
function textOf(
  content: string | ContentPart[],
  path: string,
  issues: Pick<LoweringIssues, "drop">,
): string {
  if (typeof content === "string") return content;
  const texts: string[] = [];
  for (const [index, part] of content.entries()) {
    if (part.type === "text") texts.push(part.text);
    else issues.drop("intent-part-not-text", `${path}/content/${index}`);
  }
  return texts.join("\n");
}
