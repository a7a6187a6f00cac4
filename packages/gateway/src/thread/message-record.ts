import {
  canonicalJson,
  isJsonObject,
  ownMember,
  parseJson,
  parseLeniently,
} from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type { Message, ToolCall } from "@countersign/wire";
import { digestOf } from "./digest.js";

/** A tool call as the ledger keeps it. */
export type CallRecord = {
  id: string;
  name: string;
  /** Digests of the arguments that a client may hold: one, or every delivered prefix of a cut call. */
  arguments: string[];
  /** Digests of the other fields, by name. */
  fields?: Record<string, string>;
  /** The moment it opened; see {@link MessageRecord.from}. */
  from?: number;
  /** The moment of each of `arguments`. */
  at?: number[];
  /** Its end was never delivered. */
  open?: true;
};

/** A message as the ledger keeps it: its role, and digests of its content. */
export type MessageRecord = {
  role: Message["role"];
  /** The type of an activity; absent where it had several. */
  activityType?: string;
  /** Digests of contents a client may hold; see {@link CallRecord.arguments}. */
  content: string[];
  /** The length of each of `content` in UTF-8 bytes; only of text that a client may join with other text. */
  sizes?: number[];
  fields?: Record<string, string>;
  calls?: CallRecord[];
  /** Its end was never delivered: the gateway does not know how much of it the client has. */
  open?: true;
  /** The run broke off, or its client disconnected: the client may have part of the message, or none. */
  cut?: true;
  /** The agent's own end of that run was delivered: the agent has the whole message. */
  ended?: true;
  /** The last run that wrote into it. */
  run?: string;
  /** The moment it began, counted in that run's events; 0 for a message from before. */
  from?: number;
  /** The moment of each of `content`, which holds until the next one. No client can hold an empty digest. */
  at?: number[];
};

const AGENTS: ReadonlySet<Message["role"]> = new Set(["assistant", "reasoning", "activity"]);

/** True for roles whose messages only the agent writes. */
export function isAgents(role: Message["role"]): boolean {
  return AGENTS.has(role);
}

/** Roles whose text a client may join with the text of another message of the same turn. */
export function isJoinable(role: Message["role"]): boolean {
  return role === "assistant" || role === "reasoning";
}

/** Fields that a client may lose, but not change. */
const FIELDS = [
  "name",
  "metadata",
  "encryptedValue",
  "encryptedValueType",
  "subagentRunId",
] as const;
/**
 * The fields that are compared. Clients write into the metadata of messages that they repeat, and no rule reads it.
 */
const COMPARED = FIELDS.filter((name) => name !== "metadata");
/** Fields that identify the subject of a message: a client may neither lose nor change them. */
const BINDING = ["toolCallId", "error"] as const;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Metadata that TanStack AI's client repeats as another field: a signature as `encryptedValue`, a failed state as
 * `error`.
 */
const SIGNATURE = "thoughtSignature";
const FAILED = "output-error";

/** The record of a message from a client or a message list. */
export function recordOf(message: Message): MessageRecord {
  const fields = fieldsOf(message as unknown as Fields, [...FIELDS, ...BINDING]);
  const calls = message.role === "assistant" ? message.toolCalls : undefined;
  const { role } = message;
  const content = message.content ?? "";
  const isText = isJoinable(role) && typeof content === "string";
  return {
    role,
    content: [digestOf(content)],
    ...(isText ? { sizes: [Buffer.byteLength(content)] } : {}),
    ...(fields === undefined ? {} : { fields }),
    ...(calls === undefined || calls.length === 0 ? {} : { calls: calls.map(recordOfCall) }),
  };
}

/** True when a message equals, in whole, the message of a record. */
export function isRecordOf(record: MessageRecord, message: Message): boolean {
  if (record.open === true || record.cut === true) return false;
  return canonicalJson(essenceOf(record)) === canonicalJson(essenceOf(recordOf(message)));
}

/** A record without its moments. */
function essenceOf({ role, content, fields, calls = [] }: MessageRecord): JsonValue {
  return [
    role,
    content,
    ownFields(fields),
    calls.map((call) => [call.id, call.name, call.arguments, ownFields(call.fields)]),
  ];
}

/** The fields without those of {@link repeatableOf}, which no message has. */
function ownFields(fields: Record<string, string> = {}): Record<string, string> {
  const { [SIGNATURE]: _signature, [FAILED]: _failed, ...own } = fields;
  return own;
}

/** True when two messages have the same record. */
export function isSameRecord(one: Message, other: Message): boolean {
  return JSON.stringify(recordOf(one)) === JSON.stringify(recordOf(other));
}

function recordOfCall(call: ToolCall): CallRecord {
  const fields = fieldsOf(call as unknown as Fields, FIELDS);
  return {
    id: call.id,
    name: call.function.name,
    arguments: [digestOf(call.function.arguments)],
    ...(fields === undefined ? {} : { fields }),
  };
}

/** Digests of the fields that are present. */
export function fieldsOf(
  holder: Fields,
  names: readonly string[] = FIELDS,
): Record<string, string> | undefined {
  let fields: Record<string, string> | undefined;
  for (const name of names) {
    const value = valueOf(holder, name);
    if (value !== undefined) (fields ??= {})[name] = digestOf(value);
  }
  return fields;
}

/**
 * Digests of the metadata of a delivered event that a client may repeat as another field. Never called with metadata
 * from a client, which could then write that field itself.
 */
export function repeatableOf(metadata: JsonObject | undefined): Record<string, string> | undefined {
  if (metadata === undefined) return undefined;
  const { [SIGNATURE]: signature, tanstack } = metadata;
  const isFailed = isJsonObject(tanstack) && tanstack["state"] === FAILED;
  if (typeof signature !== "string" && !isFailed) return undefined;
  return {
    ...(typeof signature === "string" ? { [SIGNATURE]: digestOf(signature) } : {}),
    ...(isFailed ? { [FAILED]: digestOf(FAILED) } : {}),
  };
}

/**
 * A message of a list, without the fields that differ from its record: frameworks lose or add fields. `undefined` where
 * its content differs.
 */
export function asRecorded(message: Message, record: MessageRecord): Message | undefined {
  const holder = message as unknown as Fields;
  if (message.role !== record.role || !record.content.includes(digestOf(message.content))) {
    return undefined;
  }
  if (!sameBinding(holder, record.fields)) return undefined;
  const changed = FIELDS.filter((name) => !sameFields(holder, record.fields, [name]));
  if (changed.length === 0) return message;
  const kept = Object.entries(holder).filter(([name]) => !(changed as string[]).includes(name));
  return Object.fromEntries(kept) as unknown as Message;
}

/** The result of comparing a client's message with the record of its id. */
export type Comparison = "same" | "unfinished" | "changed";

/**
 * Compares a client's message with the delivered one.
 *
 * `unfinished`: it was open when the gateway was killed, and the client's version is possible.
 */
export function compareMessage(message: Message, record: MessageRecord): Comparison {
  if (message.role !== record.role) return "changed";
  const said = record.content.includes(digestOf(message.content));
  if (!said && record.open !== true) return "changed";
  // A person may change their own messages; only the fields that agents read are compared.
  const holder = message as unknown as Fields;
  if (message.role === "user") {
    return sameFields(holder, record.fields, ["encryptedValue", "encryptedValueType"])
      ? "same"
      : "changed";
  }
  if (!sameFields(holder, record.fields, COMPARED) || !sameBinding(holder, record.fields)) {
    return "changed";
  }
  const calls = message.role === "assistant" ? (message.toolCalls ?? []) : [];
  const compared = compareCalls(calls, record);
  if (compared !== "same") return compared;
  return said ? "same" : "unfinished";
}

function compareCalls(calls: readonly ToolCall[], record: MessageRecord): Comparison {
  const known = record.calls ?? [];
  const isLoose = record.cut === true || record.open === true;
  if (calls.length > known.length || (calls.length < known.length && !isLoose)) return "changed";
  let result: Comparison = "same";
  for (const [index, call] of calls.entries()) {
    const before = known[index];
    const compared = before === undefined ? "changed" : compareCall(call, before);
    if (compared === "changed") return "changed";
    if (compared === "unfinished") result = "unfinished";
  }
  return result;
}

/** Compares one call with its record. */
export function compareCall(call: ToolCall, before: CallRecord): Comparison {
  if (before.id !== call.id || before.name !== call.function.name) return "changed";
  if (!sameFields(call as unknown as Fields, before.fields, COMPARED)) return "changed";
  if (before.arguments.includes(digestOf(call.function.arguments))) return "same";
  // An agent cannot act on incomplete arguments. It could act on complete ones, which were never delivered.
  if (before.open !== true || isWholeJson(call.function.arguments)) return "changed";
  return "unfinished";
}

/** True when a message has a field, other than metadata, that clients may lose and may not change. */
export function hasFields(message: Message): boolean {
  return COMPARED.some((name) => valueOf(message as unknown as Fields, name) !== undefined);
}

/** True when each of those fields is equal to the record's, or missing in both. */
export function hasFieldsOf(record: MessageRecord, message: Message): boolean {
  return sameFields(message as unknown as Fields, record.fields, COMPARED);
}

function sameFields(
  holder: Fields,
  known: Record<string, string> | undefined,
  names: readonly string[],
): boolean {
  return names.every((name) => {
    const value = valueOf(holder, name);
    if (value === undefined) return true;
    const digest = digestOf(value);
    return known?.[name] === digest || (name === "encryptedValue" && known?.[SIGNATURE] === digest);
  });
}

function sameBinding(holder: Fields, known: Record<string, string> | undefined): boolean {
  return BINDING.every((name) => {
    const value = valueOf(holder, name);
    const digest = value === undefined ? undefined : digestOf(value);
    if (digest === known?.[name]) return true;
    return name === "error" && isFailure(known) && value === errorIn(holder["content"]);
  });
}

/** True for the record of a result that was delivered as failed, without an `error`. */
export function isFailure(known: Record<string, string> | undefined): boolean {
  return known?.["error"] === undefined && known?.[FAILED] !== undefined;
}

/** The `error` that TanStack AI's client gives to a failed result with this content. */
export function errorIn(content: unknown): string | undefined {
  if (typeof content !== "string") return undefined;
  const parsed = parseLeniently(content);
  const value = parsed === undefined ? content : parsed;
  if (typeof value === "string") return value;
  const error = isJsonObject(value) ? ownMember(value, "error") : undefined;
  return typeof error === "string" ? error : "Tool execution failed";
}

/** The value of a field; null is read as absent. */
function valueOf(holder: Fields, name: string): unknown {
  return Object.hasOwn(holder, name) ? (holder[name] ?? undefined) : undefined;
}

function isWholeJson(text: string): boolean {
  try {
    parseJson(text);
    return true;
  } catch {
    return false;
  }
}

/** Decodes the record of a row. */
export function decodeRecord(value: JsonObject): MessageRecord {
  return value as unknown as MessageRecord;
}
