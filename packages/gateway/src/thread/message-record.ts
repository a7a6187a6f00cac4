import { canonicalJson, parseJson } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type { Message, ToolCall } from "@countersign/wire";
import { digestOf } from "./digest.js";

/** A tool call as the ledger keeps it. */
export type CallRecord = {
  id: string;
  name: string;
  /** Digests of arguments a client may hold: one, or every beginning that was delivered of a cut call. */
  arguments: string[];
  /** Digests of what else came with it, by field. */
  fields?: Record<string, string>;
  /** When it opened; see {@link MessageRecord.from}. */
  from?: number;
  /** Since when each of `arguments` was so. */
  at?: number[];
  /** Its end was never delivered. */
  open?: true;
};

/** A message as the ledger keeps it: who said it, and digests of what was said. */
export type MessageRecord = {
  role: Message["role"];
  /** Of an activity: its type; unknown where it had several. */
  activityType?: string;
  /** Digests of contents a client may hold; see {@link CallRecord.arguments}. */
  content: string[];
  /** The length of each of `content` in UTF-8 bytes; only of text that a client may join with other text. */
  sizes?: number[];
  fields?: Record<string, string>;
  calls?: CallRecord[];
  /** Its end was never delivered: nobody knows how much of it the client has. */
  open?: true;
  /** The run broke off, or its client went away: the client may have part of it, or none. */
  cut?: true;
  /** The run that wrote into it last. */
  run?: string;
  /** When it began, counted in that run's events; 0 for what was there before. */
  from?: number;
  /** Since when each of `content` was so: each until the next. An empty digest is none a client can hold. */
  at?: number[];
};

const AGENTS: ReadonlySet<Message["role"]> = new Set(["assistant", "reasoning", "activity"]);

/** Whether messages of a role are the agent's own to go on with. */
export function isAgents(role: Message["role"]): boolean {
  return AGENTS.has(role);
}

/** Roles whose text a client may join with the text of another message of the same turn. */
export function isJoinable(role: Message["role"]): boolean {
  return role === "assistant" || role === "reasoning";
}

/** Fields that a client may lose on the way, but not change. */
const FIELDS = [
  "name",
  "metadata",
  "encryptedValue",
  "encryptedValueType",
  "subagentRunId",
] as const;
/**
 * Those of them that a client may not change either. Metadata is not among them: clients write into that of messages which
 * they repeat, and no rule reads it as something that was said.
 */
const COMPARED = FIELDS.filter((name) => name !== "metadata");
/** Fields that say what a message is about: neither lost nor changed. */
const BINDING = ["toolCallId", "error"] as const;

type Fields = Readonly<Record<string, unknown>>;

/** A message of a client or of a message list, for the ledger. */
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

/** Whether a message is, whole, what a record was made of. */
export function isRecordOf(record: MessageRecord, message: Message): boolean {
  if (record.open === true || record.cut === true) return false;
  return canonicalJson(essenceOf(record)) === canonicalJson(essenceOf(recordOf(message)));
}

/** A record without when each part of it came. */
function essenceOf({ role, content, fields, calls = [] }: MessageRecord): JsonValue {
  return [
    role,
    content,
    fields ?? {},
    calls.map((call) => [call.id, call.name, call.arguments, call.fields ?? {}]),
  ];
}

/** Whether two messages would be one and the same to the ledger. */
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

/** Digests of the fields that are there. */
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
 * A message of a list as its record bears it out: without fields that differ from it, which frameworks lose or add on
 * the way. Nothing where it says something else.
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

/** How a client's message compares with the record of its id. */
export type Comparison = "same" | "unfinished" | "changed";

/**
 * Compares what a client holds with what was delivered.
 *
 * `unfinished`: it was open when the gateway was killed, and what the client says of it can be the truth.
 */
export function compareMessage(message: Message, record: MessageRecord): Comparison {
  if (message.role !== record.role) return "changed";
  const said = record.content.includes(digestOf(message.content));
  if (!said && record.open !== true) return "changed";
  // What the person said themselves is theirs; only what agents read of it counts.
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
  // Arguments that are not whole cannot be acted on; whole ones nobody delivered might be.
  if (before.open !== true || isWholeJson(call.function.arguments)) return "changed";
  return "unfinished";
}

/** Whether a message has a field that clients may lose and may not change: other than metadata. */
export function hasFields(message: Message): boolean {
  return COMPARED.some((name) => valueOf(message as unknown as Fields, name) !== undefined);
}

/** Whether each of those fields is, or is missing, as in a record. */
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
    return value === undefined || known?.[name] === digestOf(value);
  });
}

function sameBinding(holder: Fields, known: Record<string, string> | undefined): boolean {
  return BINDING.every((name) => {
    const value = valueOf(holder, name);
    return (value === undefined ? undefined : digestOf(value)) === known?.[name];
  });
}

/** What a field says; null is nothing. */
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

/** The record of a row. */
export function decodeRecord(value: JsonObject): MessageRecord {
  return value as unknown as MessageRecord;
}
