import { CountersignError } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import type { WireType } from "@bufbuild/protobuf/wire";
import type { ProtoNote, ProtoNoteSink } from "./note.js";

/** The bounds a frame is read under. */
export type ReadBounds = { readonly maxDepth: number; readonly maxObjects: number };

/** One frame being read: the bytes, where they stand in the stream, and what has been used up. */
export type ReadState = {
  readonly reader: BinaryReader;
  /** The bytes to read. */
  readonly bytes: Uint8Array;
  /** Offset of the reader's first byte in the stream. */
  readonly start: number;
  readonly bounds: ReadBounds;
  readonly onNote: ProtoNoteSink | undefined;
  objects: number;
  notes: number;
  /** The fields of `BaseEvent`, merged over its occurrences. */
  base: JsonObject | undefined;
};

// One leading U+FEFF is dropped, as the official reader does: what is evaluated is what a client reads. A broken sequence
// is never repaired.
const utf8 = new TextDecoder("utf-8", { fatal: true });
/** Up to here building the string by hand beats the call into the decoder; most ids are shorter. */
const SHORT_TEXT = 24;

/** Starts reading one envelope. */
export function createReadState(
  bytes: Uint8Array,
  start: number,
  bounds: ReadBounds,
  onNote: ProtoNoteSink | undefined,
): ReadState {
  const reader = new BinaryReader(bytes);
  return { reader, bytes, start, bounds, onNote, objects: 0, notes: 0, base: undefined };
}

/** The stream offset of a position in the frame, the current one by default. */
export function offsetIn(state: ReadState, position: number = state.reader.pos): number {
  return state.start + Math.min(position, state.reader.len);
}

/** The error for bytes that are not protobuf. */
export function malformed(state: ReadState): CountersignError {
  return new CountersignError("ERR_PROTO_MALFORMED", "the frame is not a protobuf message", {
    offset: offsetIn(state),
  });
}

/** Turns what the protobuf runtime throws into our codes; anything else is a bug and passes. */
export function readerFailure(state: ReadState, error: unknown): unknown {
  if (error instanceof CountersignError || error instanceof TypeError) return error;
  return malformed(state);
}

/** Counts one object or list: two bytes on the wire can cost a hundred in memory. */
export function countObject(state: ReadState): void {
  state.objects += 1;
  if (state.objects > state.bounds.maxObjects) throw limitExceeded(state, "maxObjects");
}

/** Refuses nesting beyond the bound. */
export function checkDepth(state: ReadState, depth: number): void {
  if (depth > state.bounds.maxDepth) throw limitExceeded(state, "maxDepth");
}

function limitExceeded(state: ReadState, limit: keyof ReadBounds): CountersignError {
  const allowed = state.bounds[limit];
  return new CountersignError("ERR_LIMIT_EXCEEDED", `a protobuf frame goes over ${limit}`, {
    limit,
    allowed,
    offset: offsetIn(state),
  });
}

/** Reads a length prefix and returns where the field ends; it may not pass its container. */
export function readEnd(state: ReadState, containerEnd: number): number {
  const length = state.reader.uint32();
  const end = state.reader.pos + length;
  if (end > containerEnd) throw malformed(state);
  return end;
}

/** Reads a string that may not pass its container. */
export function readText(state: ReadState, containerEnd: number): string {
  const { reader, bytes } = state;
  const end = readEnd(state, containerEnd);
  const start = reader.pos;
  reader.pos = end;
  if (end - start <= SHORT_TEXT) {
    let text = "";
    let at = start;
    for (; at < end; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte > 0x7f) break;
      text += String.fromCharCode(byte);
    }
    if (at === end) return text;
  }
  try {
    return utf8.decode(bytes.subarray(start, end));
  } catch {
    throw new CountersignError("ERR_PROTO_INVALID_UTF8", "a string is not UTF-8", {
      offset: offsetIn(state, start),
    });
  }
}

/** Notes per frame that are told one by one; a hostile frame can hold millions of unknown fields. */
const MAX_NOTES = 16;

/** Reports a note, within the bound. */
export function note(state: ReadState, what: ProtoNote): void {
  state.notes += 1;
  if (state.onNote === undefined || state.notes > MAX_NOTES + 1) return;
  if (state.notes <= MAX_NOTES) state.onNote(what);
  else state.onNote({ kind: "more-notes", offset: offsetIn(state) });
}

/** Passes over a field we do not know, and says so. */
export function skipUnknown(
  state: ReadState,
  message: string,
  field: number,
  wireType: WireType,
  at: number,
): void {
  state.reader.skip(wireType, field, state.bounds.maxDepth);
  note(state, { kind: "unknown-field", offset: offsetIn(state, at), message, field });
}

/** The error for a known field under a foreign wire type; no encoder of the protocol writes one. */
export function wrongWireType(
  state: ReadState,
  message: string,
  field: number,
  at: number,
): CountersignError {
  return new CountersignError(
    "ERR_PROTO_WIRE_TYPE",
    `field ${field} of ${message} has a foreign wire type`,
    { offset: offsetIn(state, at), message, field },
  );
}
