import { randomUUID } from "node:crypto";
import { isJsonObject, ownMember, parseLeniently, setMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { textMember } from "../oatf/json/values.js";
import type { NormalizedPhase } from "../oatf/index.js";
import type { RunRequest } from "./channel.js";

/** The extension of an execution by which its ids are sent as they are written. */
export const EXECUTION_IDS = "x-countersign-ids";

/** Whether a phase says that using a thread or run again is its attack. */
export function attacksByConflict(phase: NormalizedPhase | undefined): boolean {
  return ownMember(phase, "x-countersign-conflict") === "attack";
}

/** Members that say where something belongs and of which kind it is, not what it says. */
const PLACE_KEYS: ReadonlySet<string> = new Set(["threadId", "runId", "parentRunId"]);
const KIND_KEYS: ReadonlySet<string> = new Set([
  ...PLACE_KEYS,
  "id",
  "role",
  "type",
  "toolCallId",
  "interruptId",
]);

/** A character that an agent can read: one that is drawn, or a tag character, which stands for a letter. */
const READABLE = /[^\p{Z}\p{C}\p{M}\p{Default_Ignorable_Code_Point}\u2800]|[\u{e0021}-\u{e007e}]/u;

/** Whether a value says anything beside ids, roles and types. */
export function hasContent(value: JsonValue): boolean {
  if (typeof value === "string") return READABLE.test(value);
  if (Array.isArray(value)) return value.some(hasContent);
  if (!isJsonObject(value)) return value !== null;
  return Object.entries(value).some(([key, member]) => !KIND_KEYS.has(key) && hasContent(member));
}

/** Whether a value holds anything but empty objects, empty lists, null and blank text. */
export function hasValue(value: JsonValue): boolean {
  if (typeof value === "string") return READABLE.test(value);
  if (typeof value !== "object") return true;
  return value !== null && Object.values(value).some(hasValue);
}

/** Whether the text that is sent in place of an input says anything. */
export function hasContentInBody(body: string): boolean {
  const value = parseLeniently(body);
  return isJsonObject(value) ? hasContent(value) : READABLE.test(body);
}

/** Whether an input names a thread or a run. */
export function namesThreadOrRun(input: JsonObject): boolean {
  return [...PLACE_KEYS].some((key) => READABLE.test(textMember(input, key) ?? ""));
}

/** The thread and run that a request names; a body that is text names its own, or none. */
export type SentIds = { readonly threadId?: string; readonly runId?: string };

/** Reads the ids of a request as its target reads them. */
export function sentIds(input: JsonObject, written: string | undefined): SentIds {
  const sent = written === undefined ? input : (parseLeniently(written) ?? null);
  const threadId = textMember(sent, "threadId");
  const runId = textMember(sent, "runId");
  return {
    ...(threadId === undefined ? {} : { threadId }),
    ...(runId === undefined ? {} : { runId }),
  };
}

/** An input without `synthesize`, which is reserved, at any depth. */
export type SynthesisSplit = {
  readonly input: JsonObject;
  readonly isFound: boolean;
  /** Whether some place has `synthesize` and nothing that is written out beside it. */
  readonly isUnwritten: boolean;
};

/** Takes out every `synthesize` that asks for text by a `prompt`, and the one of the input itself whatever it is. */
export function withoutSynthesis({ synthesize, ...input }: JsonObject): SynthesisSplit {
  const hasMessages = Array.isArray(input["messages"]) && input["messages"].length > 0;
  const { value, isFound, isUnwritten } = withoutPrompts(input);
  return {
    input: value,
    isFound: isFound || synthesize !== undefined,
    isUnwritten: isUnwritten || (synthesize !== undefined && !hasMessages),
  };
}

/** {@link withoutSynthesis} of any value that is sent. */
export function withoutPrompts<Value extends JsonValue>(
  value: Value,
): { readonly value: Value; readonly isFound: boolean; readonly isUnwritten: boolean } {
  let isFound = false;
  let isUnwritten = false;
  const strip = (one: JsonValue): JsonValue => {
    if (Array.isArray(one)) return one.map(strip);
    if (!isJsonObject(one)) return one;
    const copy: JsonObject = {};
    for (const [key, member] of Object.entries(one)) {
      if (key !== "synthesize" || ownMember(member, "prompt") === undefined) {
        setMember(copy, key, strip(member));
      }
    }
    if (Object.keys(copy).length < Object.keys(one).length) {
      isFound = true;
      isUnwritten ||= !hasContent(copy);
    }
    return copy;
  };
  const stripped = strip(value) as Value;
  return { value: isFound ? stripped : value, isFound, isUnwritten };
}

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

/** The same for messages, in which AG-UI requires an id. */
export function withMessageIds(input: JsonObject, generated: (key: string) => void): JsonObject {
  const messages = ownMember(input, "messages");
  if (!Array.isArray(messages)) return input;
  const filled = messages.map((message, index): JsonValue => {
    if (!isJsonObject(message) || Object.hasOwn(message, "id")) return message;
    generated(`/messages/${index}/id`);
    return { id: randomUUID(), ...message };
  });
  return { ...input, messages: filled };
}

/** A phase's settings for its request, next to the input. */
export type RequestExtras = {
  /** The text to send in place of the input. */
  readonly body?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The settings that cannot be sent. */
  readonly problems: readonly string[];
};

/** Headers that say where a request ends or how its connection is used: with another value, no request arrives whole. */
const FRAMING =
  /^(?:content-length|transfer-encoding|connection|keep-alive|upgrade|expect|trailer|te|sec-websocket-.*)$/;

/** Reads the extensions of a phase that say what YAML cannot; `fill` fills the templates of its headers. */
export function requestExtrasOf(
  phase: NormalizedPhase,
  fill: (value: JsonValue) => JsonValue,
): RequestExtras {
  const problems: string[] = [];
  const body = ownMember(phase, "x-countersign-body");
  if (body !== undefined && typeof body !== "string") {
    problems.push("x-countersign-body is not a string");
  }
  const headers: Record<string, string> = {};
  const written = fill(ownMember(phase, "x-countersign-headers") ?? {});
  if (!isJsonObject(written)) problems.push("x-countersign-headers is not a mapping");
  for (const [name, text] of Object.entries(isJsonObject(written) ? written : {})) {
    // Anything else would make Node throw, and a document must not stop the batch.
    const key = name.toLowerCase();
    const isPlain =
      typeof text === "string" && /^[\w-]+$/.test(name) && /^[\x20-\x7e]*$/.test(text);
    const isFree = !FRAMING.test(key) && !Object.hasOwn(headers, key);
    if (isPlain && isFree) setMember(headers, key, text);
    else problems.push(`header ${name.slice(0, 64)} cannot be sent`);
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
