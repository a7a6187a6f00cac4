import { CountersignError } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { shapeEvent } from "./from-wire.js";
import type { ProtoNoteSink } from "./note.js";
import type { EventPlan } from "./plan.js";
import { envelopePlan } from "./plan.js";
import { createMessage, readMessage } from "./read-message.js";
import type { ReadBounds, ReadState } from "./read-state.js";
import {
  createReadState,
  malformed,
  note,
  offsetIn,
  readEnd,
  readerFailure,
  wrongWireType,
} from "./read-state.js";

/**
 * Reads one envelope.
 *
 * @param start offset of the envelope in the stream, for error facts
 * @returns the event in its JSON shape, or undefined for an event of a later protocol version
 */
export function readEvent(
  bytes: Uint8Array,
  start: number,
  bounds: ReadBounds,
  onNote: ProtoNoteSink | undefined,
): JsonObject | undefined {
  const state = createReadState(bytes, start, bounds, onNote);
  try {
    return readEnvelope(state, bytes);
  } catch (error) {
    throw readerFailure(state, error);
  }
}

function readEnvelope(state: ReadState, bytes: Uint8Array): JsonObject | undefined {
  const { reader } = state;
  const arms = envelopePlan().byNumber;
  let plan: EventPlan | undefined;
  let event: JsonObject | undefined;
  let unknown = 0;
  while (reader.pos < bytes.length) {
    const at = reader.pos;
    const [number, wireType] = reader.tag();
    const arm = arms[number];
    if (arm === undefined) {
      reader.skip(wireType, number, state.bounds.maxDepth);
      unknown ||= number;
      continue;
    }
    if (wireType !== WireType.LengthDelimited) throw wrongWireType(state, "Event", number, at);
    if (plan !== undefined && plan !== arm) {
      throw new CountersignError("ERR_PROTO_SEVERAL_ARMS", "the envelope names two events", {
        offset: offsetIn(state, at),
        message: "Event",
      });
    }
    plan = arm;
    event ??= { type: arm.type, ...createMessage(state, arm.field.message) };
    readMessage(state, arm.field.message, event, readEnd(state, bytes.length), 1);
  }
  if (reader.pos !== bytes.length) throw malformed(state);
  if (plan === undefined || event === undefined) return futureEvent(state, bytes, unknown);
  if (unknown > 0) {
    note(state, { kind: "unknown-field", offset: state.start, message: "Event", field: unknown });
  }
  addBase(state, plan.type, event);
  shapeEvent(state, plan.type, event);
  return event;
}

function addBase(state: ReadState, eventType: string, event: JsonObject): void {
  const { base } = state;
  const offset = state.start;
  if (base === undefined) {
    throw new CountersignError("ERR_PROTO_BASE_MISSING", `${eventType} has no base event`, {
      offset,
      eventType,
    });
  }
  const { type, timestamp, rawEvent, metadata } = base;
  if (type !== eventType) {
    const declared = String(type);
    throw new CountersignError(
      "ERR_PROTO_TYPE_MISMATCH",
      `the envelope carries ${eventType}, the base event declares ${declared}`,
      { offset, eventType, declared },
    );
  }
  if (timestamp !== undefined) event["timestamp"] = timestamp;
  if (rawEvent !== undefined) event["rawEvent"] = rawEvent;
  if (metadata !== undefined) event["metadata"] = metadata;
}

/** An envelope of unknown arms only is news from a later version, if they can be messages at all. */
function futureEvent(state: ReadState, bytes: Uint8Array, field: number): undefined {
  if (!namesFutureEvent(state, bytes)) {
    throw new CountersignError("ERR_PROTO_NO_EVENT", "the envelope names no event", {
      offset: state.start,
    });
  }
  note(state, { kind: "future-event", offset: state.start, field });
}

function namesFutureEvent(state: ReadState, bytes: Uint8Array): boolean {
  const reader = new BinaryReader(bytes);
  let candidates = 0;
  while (reader.pos < bytes.length) {
    const [number, wireType] = reader.tag();
    if (wireType !== WireType.LengthDelimited) {
      reader.skip(wireType, number, state.bounds.maxDepth);
      continue;
    }
    if (!walksAsMessage(reader.bytes(), state.bounds.maxDepth)) return false;
    candidates += 1;
  }
  return candidates > 0;
}

function walksAsMessage(bytes: Uint8Array, maxDepth: number): boolean {
  const reader = new BinaryReader(bytes);
  try {
    while (reader.pos < bytes.length) {
      const [number, wireType] = reader.tag();
      reader.skip(wireType, number, maxDepth);
    }
    return true;
  } catch {
    return false;
  }
}
