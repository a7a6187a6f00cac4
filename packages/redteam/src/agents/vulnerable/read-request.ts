import { isJsonObject, ownMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { listMember, textMember } from "../../oatf/json/values.js";

const TWINS: ReadonlyMap<string, string> = new Map([
  ["forwarded_props", "forwardedProps"],
  ["thread_id", "threadId"],
  ["run_id", "runId"],
  ["tool_call_id", "toolCallId"],
  ["tool_calls", "toolCalls"],
  ["interrupt_id", "interruptId"],
]);

/**
 * Reads a request the careless way: the last of two equal keys wins, names in snake case are as good as
 * those of the protocol, at every depth.
 */
export async function readLeniently(body: string): Promise<JsonObject> {
  const value = (await new Response(body).json()) as JsonValue;
  const renamed = rename(value);
  return isJsonObject(renamed) ? renamed : {};
}

function rename(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(rename);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [TWINS.get(key) ?? key, rename(child)]),
  );
}

/** Text with invisible tag characters (U+E0020 to U+E007E) read aloud, as models do. */
function readTags(text: string): string {
  return text.replace(/[\u{E0020}-\u{E007E}]/gu, (tag) =>
    String.fromCodePoint((tag.codePointAt(0) ?? 0) - 0xe0000),
  );
}

/** The text of a message, whatever holds it. */
export function textOf(message: JsonValue): string {
  const content = ownMember(message, "content");
  if (typeof content === "string") return readTags(content);
  if (content === undefined || content === null) return "";
  if (!Array.isArray(content)) throw new TypeError("content.toLowerCase is not a function");
  return content.map((part) => textMember(part, "text") ?? "").join("\n");
}

function leaves(value: JsonValue | undefined): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(leaves);
  return isJsonObject(value) ? Object.values(value).flatMap(leaves) : [];
}

/** Everything in a request that is not the user's own words, and that this agent obeys all the same. */
export function untrustedTexts(input: JsonObject): string[] {
  const messages = listMember(input, "messages").filter(
    (message) => textMember(message, "role") !== "user",
  );
  const sealed = messages.map((message) => textMember(message, "encryptedValue") ?? "");
  return [
    ...messages.map(textOf),
    ...sealed.map((text) => Buffer.from(text, "base64").toString("utf8")),
    ...leaves(ownMember(input, "context")),
    ...leaves(ownMember(input, "state")),
    ...listMember(input, "tools").map((tool) => textMember(tool, "description") ?? ""),
    textMember(ownMember(input, "forwardedProps"), "systemPrompt") ?? "",
  ];
}
