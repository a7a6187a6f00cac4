import { CountersignError } from "@countersign/core";

/** Bytes of a frame's header: its length as an unsigned big-endian integer. */
export const HEADER_BYTES = 4;

/** One whole frame without its header; valid until the next call of `add` or `take`. */
type Frame = { readonly bytes: Uint8Array; readonly offset: number };

/** Cuts a stream of bytes into frames. */
export type FrameBuffer = {
  /** Takes a chunk; the frames before it must have been taken. */
  add(chunk: Uint8Array): void;
  /** The next whole frame, or undefined when more bytes are needed. */
  take(): Frame | undefined;
  /** Forgets everything held. */
  drop(): void;
  /** Bytes of an unfinished frame, its header included. */
  readonly pending: number;
  /** Offset in the stream of the first byte not yet taken. */
  readonly offset: number;
};

const EMPTY: Uint8Array = new Uint8Array(0);
const FIRST_CAPACITY = 1024;
/** One large frame must not pin its memory for the rest of the stream. */
const KEPT_CAPACITY = 65_536;

/**
 * Holds at most one unfinished frame. Whole frames inside a chunk are handed out without a copy, and
 * memory grows with the bytes that came, never with the length a header claims.
 */
export function createFrameBuffer(maxFrameBytes: number): FrameBuffer {
  /** Start of an unfinished frame; `held` says how much of it is filled. */
  let store = EMPTY;
  let held = 0;
  let chunk = EMPTY;
  let position = 0;
  let offset = 0;

  function hold(wanted: number): boolean {
    const amount = Math.min(wanted - held, chunk.length - position);
    if (amount > 0) {
      if (held + amount > store.length) {
        const capacity = Math.max(FIRST_CAPACITY, store.length * 2, held + amount);
        const larger = new Uint8Array(Math.min(capacity, Math.max(maxFrameBytes, HEADER_BYTES)));
        larger.set(store.subarray(0, held));
        store = larger;
      }
      store.set(chunk.subarray(position, position + amount), held);
      held += amount;
      position += amount;
    }
    return held === wanted;
  }

  function frameBytes(bytes: Uint8Array, at: number): number {
    const view = new DataView(bytes.buffer, bytes.byteOffset + at, HEADER_BYTES);
    const length = view.getUint32(0);
    if (length === 0) {
      throw new CountersignError("ERR_PROTO_EMPTY_FRAME", "a frame of length zero", { offset });
    }
    if (length + HEADER_BYTES > maxFrameBytes) {
      throw new CountersignError("ERR_LIMIT_EXCEEDED", "a protobuf frame goes over maxFrameBytes", {
        limit: "maxFrameBytes",
        allowed: maxFrameBytes,
        offset,
      });
    }
    return length + HEADER_BYTES;
  }

  function emit(bytes: Uint8Array, at: number, size: number): Frame {
    const frame = {
      bytes: bytes.subarray(at + HEADER_BYTES, at + size),
      offset: offset + HEADER_BYTES,
    };
    offset += size;
    return frame;
  }

  return {
    add(next) {
      chunk = next;
      position = 0;
    },
    take() {
      const left = chunk.length - position;
      if (held === 0 && left >= HEADER_BYTES) {
        const size = frameBytes(chunk, position);
        if (size <= left) {
          position += size;
          return emit(chunk, position - size, size);
        }
      }
      const size = held < HEADER_BYTES && !hold(HEADER_BYTES) ? 0 : frameBytes(store, 0);
      if (size === 0 || !hold(size)) {
        chunk = EMPTY;
        position = 0;
        return undefined;
      }
      const frame = emit(store, 0, size);
      held = 0;
      if (store.length > KEPT_CAPACITY) store = EMPTY;
      return frame;
    },
    drop() {
      store = EMPTY;
      chunk = EMPTY;
      held = 0;
      position = 0;
    },
    get pending() {
      return held;
    },
    get offset() {
      return offset;
    },
  };
}
