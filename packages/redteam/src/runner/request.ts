import { randomUUID } from "node:crypto";
import { isJsonObject, ownMember } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
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

/** What a phase says of its request beside the input. */
export type RequestExtras = {
  /** The text to send in place of the input. */
  readonly body?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What of it cannot be sent. */
  readonly problems: readonly string[];
};

/** Reads the extensions of a phase that say what YAML cannot. */
export function requestExtrasOf(phase: NormalizedPhase): RequestExtras {
  const problems: string[] = [];
  const body = ownMember(phase, "x-countersign-body");
  if (body !== undefined && typeof body !== "string") {
    problems.push("x-countersign-body is no text");
  }
  const headers: Record<string, string> = {};
  const written = ownMember(phase, "x-countersign-headers") ?? {};
  if (!isJsonObject(written)) problems.push("x-countersign-headers is no mapping");
  for (const [name, text] of Object.entries(isJsonObject(written) ? written : {})) {
    // Anything else would make Node throw, and a document must not stop the batch.
    if (typeof text === "string" && /^[\w-]+$/.test(name) && /^[\x20-\x7e]*$/.test(text)) {
      headers[name.toLowerCase()] = text;
    } else problems.push(`header ${name.slice(0, 64)} cannot be sent`);
  }
  return { ...(typeof body === "string" ? { body } : {}), headers, problems };
}

/** The request that carries an input, or the text a document wants sent in its place. */
export function requestOf(
  input: JsonObject,
  written: string | undefined,
  headers: Readonly<Record<string, string>>,
): RunRequest {
  return {
    body: written ?? JSON.stringify(input),
    threadId: textMember(input, "threadId") ?? "",
    runId: textMember(input, "runId") ?? "",
    headers,
  };
}

/** A tool call for a result that a document sends without ever having been asked for it. */
export function callNamedBy(result: JsonObject): JsonObject {
  const id = textMember(result, "toolCallId") ?? randomUUID();
  return { id, type: "function", function: { name: "unknown", arguments: "{}" } };
}
