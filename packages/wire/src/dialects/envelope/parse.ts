import {
  CLASSIFICATIONS,
  CountersignError,
  hasControlCharacter,
  PLAIN_EVENT_TYPES,
  isJsonObject,
  ownMember,
} from "@countersign/core";
import type { Classification, JsonObject, JsonValue, NamedEventType } from "@countersign/core";
import type { Envelope, EnvelopeClaim, EnvelopeTarget } from "./envelope.js";

/** Longest identifier, in UTF-16 units: it is repeated in every receipt and log line. */
export const MAX_ENVELOPE_IDENTIFIER_LENGTH = 512;

const EVENT_TYPES: ReadonlySet<string> = new Set(PLAIN_EVENT_TYPES);
const CLASSES: ReadonlySet<string> = new Set(CLASSIFICATIONS);
const MEMBERS = new Set([
  "event_id",
  "timestamp",
  "agent_id",
  "session_id",
  "event_type",
  "target",
  "classification",
  "payload",
  "capability",
]);
const TARGET_MEMBERS = new Set(["component_type", "component_id"]);
const REQUIRED: readonly string[] = [
  "event_id",
  "timestamp",
  "agent_id",
  "event_type",
  "classification",
  "payload",
];
const CUSTOM_TEXT = /^custom\("([^"]*)"\)$/u;

type Refuse = (field: string, problem: string) => never;

/** Reads a whole envelope strictly: closed object, every rule of the boundary check. */
export function unwrapEnvelope(value: JsonValue, eventNumber = 1): EnvelopeClaim {
  const { capability, ...members } = readMembers(value, eventNumber);
  for (const field of REQUIRED) {
    if (!Object.hasOwn(members, field)) createRefusal(eventNumber)(field, "is missing");
  }
  const envelope = members as Envelope;
  return capability === undefined ? { envelope } : { envelope, capability };
}

/**
 * Reads what a browser sends (`Partial<AgUiEvent>`): the same rules for every member that is there.
 * What is missing is the gateway's to fill in from the connection, never the sender's.
 */
export function unwrapPartialEnvelope(
  value: JsonValue,
  eventNumber = 1,
): { envelope: Partial<Envelope>; capability?: JsonValue } {
  const { capability, ...envelope } = readMembers(value, eventNumber);
  return capability === undefined ? { envelope } : { envelope, capability };
}

function createRefusal(eventNumber: number): Refuse {
  return (field, problem) => {
    throw new CountersignError(
      "ERR_DIALECT_ENVELOPE",
      `event ${eventNumber}: ${field} of the envelope ${problem}`,
      { event: eventNumber, field, problem },
    );
  };
}

function readMembers(
  value: JsonValue,
  eventNumber: number,
): Partial<Envelope> & { capability?: JsonValue } {
  const refuse = createRefusal(eventNumber);
  if (!isJsonObject(value)) return refuse("event", "must be an object");
  // The unknown name is the sender's text and stays out of the message.
  if (Object.keys(value).some((key) => !MEMBERS.has(key))) {
    refuse("event", "has a member that is not defined");
  }
  const read: Partial<Envelope> & { capability?: JsonValue } = {};
  const has = (field: string): boolean => Object.hasOwn(value, field);
  const member = (field: string): JsonValue => value[field] as JsonValue;
  if (has("event_id")) read.event_id = readIdentifier(member("event_id"), "event_id", refuse);
  if (has("timestamp")) read.timestamp = readSeconds(member("timestamp"), refuse);
  if (has("agent_id")) read.agent_id = readIdentifier(member("agent_id"), "agent_id", refuse);
  if (has("session_id")) {
    read.session_id = readIdentifier(member("session_id"), "session_id", refuse);
  }
  if (has("event_type")) read.event_type = readEventType(member("event_type"), refuse);
  if (has("target")) read.target = readTarget(member("target"), refuse);
  if (has("classification")) {
    read.classification = readClassification(member("classification"), refuse);
  }
  if (has("payload")) read.payload = member("payload");
  if (has("capability")) {
    const capability = member("capability");
    if (typeof capability !== "string" && !isJsonObject(capability)) {
      refuse("capability", "must be a string or an object");
    }
    read.capability = capability;
  }
  return read;
}

function readIdentifier(value: JsonValue | undefined, field: string, refuse: Refuse): string {
  if (typeof value !== "string" || value.trim() === "") {
    return refuse(field, "must be a non-empty string");
  }
  if (value !== value.trim() || hasControlCharacter(value)) {
    return refuse(field, "must be unpadded and contain no control characters");
  }
  if (value.length > MAX_ENVELOPE_IDENTIFIER_LENGTH) return refuse(field, "is too long");
  return value;
}

function readSeconds(value: JsonValue, refuse: Refuse): number {
  const valid =
    typeof value === "number" &&
    value >= 0 &&
    Number.isSafeInteger(value) &&
    Number.isSafeInteger(value * 1000);
  return valid ? value : refuse("timestamp", "must be whole seconds since the epoch");
}

function readEventType(value: JsonValue, refuse: Refuse): NamedEventType {
  if (typeof value === "string") {
    if (EVENT_TYPES.has(value)) return value as NamedEventType;
    const name = CUSTOM_TEXT.exec(value)?.[1];
    if (name !== undefined) return { custom: readIdentifier(name, "event_type.custom", refuse) };
  } else if (isJsonObject(value) && Object.keys(value).length === 1) {
    const name = ownMember(value, "custom");
    if (name !== undefined) return { custom: readIdentifier(name, "event_type.custom", refuse) };
  }
  return refuse("event_type", "is not defined");
}

function readTarget(value: JsonValue, refuse: Refuse): EnvelopeTarget {
  if (!isJsonObject(value)) return refuse("target", "must be an object");

  if (Object.keys(value).some((key) => !TARGET_MEMBERS.has(key))) {
    refuse("target", "has a member that is not defined");
  }
  const target: EnvelopeTarget = {
    component_type: readIdentifier(
      ownMember(value, "component_type"),
      "target.component_type",
      refuse,
    ),
  };
  if (Object.hasOwn(value, "component_id")) {
    target.component_id = readIdentifier(value["component_id"], "target.component_id", refuse);
  }
  return target;
}

function readClassification(value: JsonValue, refuse: Refuse): Classification {
  if (typeof value === "string" && CLASSES.has(value)) {
    return value as Classification;
  }
  return refuse("classification", "is not defined");
}

/** Whether a value shows the tell-tale of an envelope: its two own names and no `type`. */
export function looksLikeEnvelope(value: JsonObject): boolean {
  return (
    !Object.hasOwn(value, "type") &&
    Object.hasOwn(value, "event_id") &&
    Object.hasOwn(value, "event_type")
  );
}
