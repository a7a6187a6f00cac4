import { randomUUID } from "node:crypto";
import { isJsonObject, ownMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { textMember } from "../oatf/json/access.js";
import type { NormalizedPhase } from "../oatf/index.js";
import type { RunRequest } from "./channel.js";

/** The binding wants ids; a document that leaves them out gets fresh ones at the moment of sending. */
export function withIds(input: JsonObject, generated: (key: string) => void): JsonObject {
  const filled: JsonObject = { ...input };
  for (const key of ["threadId", "runId"]) {
    if (Object.hasOwn(filled, key)) continue;
    filled[key] = randomUUID();
    generated(key);
  }
  return filled;
}

/** The request that carries an input, or the text a document wants sent in its place. */
export function requestOf(
  input: JsonObject,
  written: string | undefined,
  phase: NormalizedPhase | undefined,
): RunRequest {
  return {
    body: written ?? JSON.stringify(input),
    threadId: textMember(input, "threadId") ?? "",
    runId: textMember(input, "runId") ?? "",
    headers: headersOf(ownMember(phase, "x-countersign-headers")),
  };
}

function headersOf(value: JsonValue | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  if (!isJsonObject(value)) return headers;
  for (const [name, text] of Object.entries(value)) {
    // Anything else would make Node throw, and a document must not stop the batch.
    if (typeof text === "string" && /^[\w-]+$/.test(name) && /^[\x20-\x7e]*$/.test(text)) {
      headers[name.toLowerCase()] = text;
    }
  }
  return headers;
}

/** A tool call for a result that a document sends without ever having been asked for it. */
export function callNamedBy(result: JsonObject): JsonObject {
  const id = textMember(result, "toolCallId") ?? randomUUID();
  return { id, type: "function", function: { name: "unknown", arguments: "{}" } };
}
