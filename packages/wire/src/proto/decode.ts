import { assertPositiveInteger, CountersignError, resolveLimits } from "@countersign/core";
import type { JsonObject, Limits } from "@countersign/core";
import { createFrameBuffer } from "./frame-buffer.js";
import type { ProtoNoteSink } from "./note.js";
import { readEvent } from "./read-event.js";

/**
 * Objects and lists of one frame. So many empty messages are half a megabyte on the wire, took 43 MB
 * while they were read and 17 MB afterwards; without the bound 10 MiB would take twenty times that.
 */
const DEFAULT_MAX_OBJECTS = 262_144;

/** Options of a protobuf decoder, next to the limits. */
export type ProtoDecoderOptions = {
  /** Called for what the bytes held and this version does not know. */
  readonly onNote?: ProtoNoteSink;
  /** Objects and lists one frame may hold. */
  readonly maxObjects?: number;
};

/** Reads a stream of length-prefixed protobuf events. */
export type ProtoDecoder = {
  /**
   * Decodes the next bytes, cut anywhere, and returns the events they complete, in JSON shape and
   * not yet enforced.
   *
   * When a frame is malformed, this call returns the events before it and the next call throws, so
   * the outcome does not depend on how the bytes were cut. `error` reports it at once.
   */
  push(chunk: Uint8Array): JsonObject[];
  /** Says that the bytes are over; throws when a frame is incomplete or an error is due. */
  end(): void;
  /** Why the decoder is dead, if it is. */
  readonly error: CountersignError | undefined;
};

/** Makes a decoder for one response body of type `application/vnd.ag-ui.event+proto`. */
export function createProtoDecoder(
  limits?: Partial<Limits>,
  options: ProtoDecoderOptions = {},
): ProtoDecoder {
  const { maxFrameBytes, maxDepth } = resolveLimits(limits);
  const { onNote, maxObjects = DEFAULT_MAX_OBJECTS } = options;
  assertPositiveInteger("maxObjects", maxObjects);
  const bounds = { maxDepth, maxObjects };
  const frames = createFrameBuffer(maxFrameBytes);
  let failure: CountersignError | undefined;
  let ended = false;

  function takeAll(chunk: Uint8Array, events: JsonObject[]): void {
    frames.add(chunk);
    for (let frame = frames.take(); frame !== undefined; frame = frames.take()) {
      const event = readEvent(frame.bytes, frame.offset, bounds, onNote);
      if (event !== undefined) events.push(event);
    }
  }

  return {
    push(chunk) {
      if (ended) throw new TypeError("push after end");
      if (failure !== undefined) throw failure;
      const events: JsonObject[] = [];
      try {
        takeAll(chunk, events);
      } catch (error) {
        if (!(error instanceof CountersignError)) throw error;
        failure = error;
        frames.drop();
        if (events.length === 0) throw error;
      }
      return events;
    },
    end() {
      if (failure !== undefined) throw failure;
      ended = true;
      if (frames.pending === 0) return;
      failure = new CountersignError("ERR_PROTO_TRUNCATED", "the stream ended inside a frame", {
        offset: frames.offset,
        pending: frames.pending,
      });
      throw failure;
    },
    get error() {
      return failure;
    },
  };
}
