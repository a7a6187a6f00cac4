import type { DescEnum, DescField, DescMessage } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";
import { EventSchema } from "./generated/event_pb.js";

type FieldKind = "string" | "int64" | "bool" | "enum" | "value" | "struct" | "message" | "base";

/** How one field is read and written: its descriptor, flattened for the hot path. */
export type FieldPlan = {
  readonly number: number;
  /** The member's name in JSON. */
  readonly name: string;
  readonly kind: FieldKind;
  readonly wireType: WireType;
  /** Number and wire type as one varint. */
  readonly tag: number;
  readonly repeated: boolean;
  /** JSON requires the member, so an encoder must find it. */
  readonly required: boolean;
  /** JSON gives null a meaning of its own in this member. */
  readonly keepsNull: boolean;
  /** An alternative of a oneof. */
  readonly arm: boolean;
  /** Levels of JSON nesting the member adds. */
  readonly levels: number;
  /** The plan of a nested message; an empty one for scalars. */
  readonly message: MessagePlan;
  /** JSON spellings by enum number. */
  readonly spellings: readonly string[];
};

/** How one message is read and written. */
export type MessagePlan = {
  readonly name: string;
  /** In field order, which is the order of the bytes we write. */
  readonly fields: readonly FieldPlan[];
  readonly byNumber: readonly (FieldPlan | undefined)[];
  readonly names: ReadonlySet<string>;
  /** Members that have a value even when no bytes say so. */
  readonly defaults: readonly (readonly [name: string, value: string])[];
};

/** One event type: the arm of the envelope and what it holds. */
export type EventPlan = { readonly type: string; readonly field: FieldPlan };

/** Fields that JSON requires although protobuf may omit them. */
const REQUIRED = new Map<string, string>([
  ["StateSnapshotEvent", "snapshot"],
  ["StateDeltaEvent", "delta"],
  ["MessagesSnapshotEvent", "messages"],
  ["RawEvent", "event"],
  ["CustomEvent", "value"],
  ["ActivitySnapshotEvent", "content"],
  ["ActivityDeltaEvent", "patch"],
  ["RunAgentInput", "messages"],
  ["ToolCall", "function"],
  ["MediaPart", "source"],
]);

const NO_MESSAGE: MessagePlan = {
  name: "",
  fields: [],
  byNumber: [],
  names: new Set(),
  defaults: [],
};

function kindOf(field: DescField): FieldKind {
  if (field.enum !== undefined) return "enum";
  if (field.message !== undefined) {
    if (field.message.typeName === "google.protobuf.Value") return "value";
    if (field.message.typeName === "google.protobuf.Struct") return "struct";
    return field.message.name === "BaseEvent" ? "base" : "message";
  }
  const scalar =
    field.fieldKind === "list" ? field.listKind === "scalar" && field.scalar : field.scalar;
  if (scalar === ScalarType.STRING) return "string";
  if (scalar === ScalarType.INT64) return "int64";
  if (scalar === ScalarType.BOOL) return "bool";
  throw new Error(`no plan for field ${field.name}`);
}

function wireTypeOf(kind: FieldKind): WireType {
  return kind === "int64" || kind === "bool" || kind === "enum"
    ? WireType.Varint
    : WireType.LengthDelimited;
}

/** Event types are spelled in capitals, patch operations in small letters. */
function spellingsOf(type: DescEnum): string[] {
  const spellings: string[] = [];
  for (const value of type.values) {
    spellings[value.number] =
      type.name === "EventType" ? value.localName : value.localName.toLowerCase();
  }
  return spellings;
}

function planField(field: DescField, owner: string, plans: Map<string, MessagePlan>): FieldPlan {
  const kind = kindOf(field);
  const repeated = field.fieldKind === "list";
  const wireType = wireTypeOf(kind);
  const arm = field.oneof !== undefined;
  const message = field.message;
  const scalar = kind === "string" || kind === "enum";
  const implicit = scalar && !repeated && !arm && !field.proto.proto3Optional;
  const demanded = REQUIRED.get(owner) === field.jsonName;
  return {
    number: field.number,
    name: field.jsonName,
    kind,
    wireType,
    tag: ((field.number << 3) | wireType) >>> 0,
    repeated,
    required: implicit || demanded,
    keepsNull: kind === "value" && (demanded || owner === "PatchOperation"),
    arm,
    levels: (repeated ? 1 : 0) + (arm || kind === "base" ? 0 : 1),
    message:
      (kind === "message" || kind === "base") && message !== undefined
        ? planMessage(message, plans)
        : NO_MESSAGE,
    spellings: field.enum === undefined ? [] : spellingsOf(field.enum),
  };
}

function planMessage(message: DescMessage, plans: Map<string, MessagePlan>): MessagePlan {
  const known = plans.get(message.typeName);
  if (known !== undefined) return known;
  const fields = message.fields
    .map((field) => planField(field, message.name, plans))
    .sort((a, b) => a.number - b.number);
  const byNumber: (FieldPlan | undefined)[] = [];
  for (const field of fields) byNumber[field.number] = field;
  const plan: MessagePlan = {
    name: message.name,
    fields,
    byNumber,
    names: new Set(fields.map((field) => field.name)),
    defaults: fields.flatMap((field): [string, string][] => {
      if (field.kind === "enum") return [[field.name, field.spellings[0] ?? "0"]];
      return field.kind === "string" && field.required ? [[field.name, ""]] : [];
    }),
  };
  plans.set(message.typeName, plan);
  return plan;
}

/** The envelope: arms by field number, and by event type. */
export type EnvelopePlan = {
  readonly byNumber: readonly (EventPlan | undefined)[];
  readonly byType: ReadonlyMap<string, EventPlan>;
};

function planEnvelope(): EnvelopePlan {
  const envelope = planMessage(EventSchema, new Map());
  const byNumber: (EventPlan | undefined)[] = [];
  const byType = new Map<string, EventPlan>();
  for (const { name, number } of EventSchema.fields) {
    const field = envelope.byNumber[number];
    if (field === undefined) continue;
    const plan = { type: name.toUpperCase(), field };
    byNumber[number] = plan;
    byType.set(plan.type, plan);
  }
  return { byNumber, byType };
}

let envelope: EnvelopePlan | undefined;

/** The plan of the whole schema, made from the generated descriptors on first use. */
export function envelopePlan(): EnvelopePlan {
  envelope ??= planEnvelope();
  return envelope;
}
