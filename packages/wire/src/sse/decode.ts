import {
  assertWithin,
  CountersignError,
  decodeUtf8,
  invalidUtf8Offset,
  isCountersignError,
  resolveLimits,
} from "@countersign/core";
import type { Limits } from "@countersign/core";
import { afterLastLine, BlockReader } from "./blocks.js";
import type { SseMessage } from "./message.js";
import { TailBuffer } from "./tail.js";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The stream holds bytes that are not UTF-8. */
    ERR_SSE_UTF8: { offset: number };
    /** The stream ended inside an event block, and the caller asked to refuse that. */
    ERR_SSE_UNTERMINATED: { offset: number };
    /** A field to be written would break out of its line. */
    ERR_SSE_FIELD: { field: "data" | "event" | "id" | "comment" };
  }
}

const LF = 10;
const CR = 13;
const LINE_END = Uint8Array.of(LF);
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/** How a decoder treats what it cannot decide alone. */
export interface SseDecoderOptions extends Partial<Limits> {
  /**
   * The handling of a last block that no blank line closes: `process` it, as the official AG-UI
   * client does (default); `drop` it, as the SSE specification says; or `refuse` the stream.
   */
  readonly unterminated?: "process" | "drop" | "refuse";
}

/** An incremental SSE decoder. */
export interface SseDecoder {
  /**
   * Takes the next bytes, cut anywhere, and returns the messages they complete.
   *
   * When the bytes go bad after a complete message, that message is still returned and the error is
   * thrown by the next call; look at `failure` to know at once. So the messages that come out do not
   * depend on where the network cut the stream.
   *
   * @throws CountersignError `ERR_SSE_UTF8` or `ERR_LIMIT_EXCEEDED`; the decoder is dead afterwards
   */
  push(chunk: Uint8Array): SseMessage[];
  /**
   * Ends the stream and returns what the end completes.
   *
   * @throws CountersignError as `push`, and `ERR_SSE_UNTERMINATED` when that was asked for
   */
  end(): SseMessage[];
  /** The error that made the decoder dead. */
  readonly failure: CountersignError | undefined;
  /** Comment lines so far: the heartbeats of a quiet server. */
  readonly comments: number;
}

/**
 * Decodes `text/event-stream` bytes (WHATWG HTML §9.2): LF, CRLF and CR in any mix, comments, a byte
 * order mark, multi-line data, `event`, `id` and `retry`.
 *
 * Bytes that are not UTF-8 are refused, although the specification would put U+FFFD in their place:
 * the bytes that are judged and signed must be the bytes that arrived.
 *
 * @throws TypeError when a limit is not a positive integer
 */
export function createSseDecoder(options: SseDecoderOptions = {}): SseDecoder {
  // Limits that were resolved before are taken as they are; a copy would be one for every stream.
  if (!("unterminated" in options)) return new Decoder(resolveLimits(options), "process");
  const { unterminated = "process", ...limits } = options;
  return new Decoder(resolveLimits(limits), unterminated);
}

class Decoder implements SseDecoder {
  readonly #limits: Limits;
  readonly #unterminated: "process" | "drop" | "refuse";
  readonly #blocks: BlockReader;
  /** Bytes after the last line ending: always the beginning of one line. */
  readonly #tail = new TailBuffer();
  /** The stream offset of the first byte that is not read yet; the tail begins there. */
  #offset = 0;
  #afterCr = false;
  #ended = false;
  failure: CountersignError | undefined;

  constructor(limits: Limits, unterminated: "process" | "drop" | "refuse") {
    this.#limits = limits;
    this.#unterminated = unterminated;
    this.#blocks = new BlockReader(limits);
  }

  get comments(): number {
    return this.#blocks.comments;
  }

  push(chunk: Uint8Array): SseMessage[] {
    this.#assertAlive();
    const messages: SseMessage[] = [];
    try {
      this.#take(chunk, messages);
    } catch (error) {
      this.#fail(error, messages);
    }
    return messages;
  }

  end(): SseMessage[] {
    this.#assertAlive();
    this.#ended = true;
    const messages: SseMessage[] = [];
    try {
      this.#finish(messages);
    } catch (error) {
      this.#fail(error, messages);
    }
    return messages;
  }

  #assertAlive(): void {
    if (this.failure !== undefined) throw this.failure;
    if (this.#ended) throw new TypeError("the SSE decoder has ended");
  }

  #fail(error: unknown, messages: readonly SseMessage[]): void {
    if (!isCountersignError(error)) throw error;
    this.failure = error;
    this.#tail.clear();
    // Nothing calls again after the end, so there the error cannot wait for a next call.
    if (messages.length === 0 || this.#ended) throw error;
  }

  #finish(messages: SseMessage[]): void {
    const open = this.#tail.length > 0 || this.#blocks.open;
    if (open && this.#unterminated === "refuse") {
      const offset = this.#offset + this.#tail.length;
      throw new CountersignError("ERR_SSE_UNTERMINATED", "the stream ends inside an event", {
        offset,
      });
    }
    if (!open || this.#unterminated === "drop") return;
    if (this.#tail.length > 0) {
      this.#tail.append(LINE_END, 0, 1);
      this.#region(this.#tail.take(), messages);
    }
    this.#blocks.dispatch(messages);
  }

  #take(chunk: Uint8Array, messages: SseMessage[]): void {
    const length = chunk.length;
    let start = 0;
    if (this.#afterCr && length > 0) {
      // A CR at the end of a read closed its line already; the LF of a cut CRLF is only skipped.
      this.#afterCr = false;
      if (chunk[0] === LF) {
        start = 1;
        this.#offset++;
      }
    }
    const end = afterLastLine(chunk, start, length);
    if (end > start) {
      this.#afterCr = end === length && chunk[end - 1] === CR;
      if (this.#tail.length > 0) {
        this.#tail.append(chunk, start, end);
        this.#region(this.#tail.take(), messages);
      } else this.#region(end - start === length ? chunk : chunk.subarray(start, end), messages);
    }
    if (end === length) return;
    const held = this.#tail.length + length - end;
    if (held > this.#limits.maxLineBytes) {
      const mark = this.#markBytes(chunk, end);
      const at = this.#offset + mark;
      assertWithin("maxLineBytes", held - mark, this.#limits.maxLineBytes, at);
    }
    this.#tail.append(chunk, end, length);
  }

  /** The byte order mark is not part of the first line, in one chunk or several. */
  #markBytes(chunk: Uint8Array, from: number): number {
    if (this.#offset > 0) return 0;
    const held = this.#tail.length;
    return BYTE_ORDER_MARK.every(
      (byte, index) => (index < held ? this.#tail.at(index) : chunk[from + index - held]) === byte,
    )
      ? BYTE_ORDER_MARK.length
      : 0;
  }

  /** Reads bytes that end with a line ending; only at such a place is UTF-8 surely not cut. */
  #region(bytes: Uint8Array, messages: SseMessage[]): void {
    const text = decodeUtf8(bytes);
    if (text === undefined) {
      const bad = invalidUtf8Offset(bytes);
      const offset = this.#offset + bad;
      const start = afterLastLine(bytes, 0, bad);
      this.#region(bytes.subarray(0, start), messages);
      // A line is measured before it is read, as it is when it comes in pieces.
      const mark = this.#markBytes(bytes, start);
      let end = bad;
      while (bytes[end] !== LF && bytes[end] !== CR) end++;
      const length = end - start - mark;
      assertWithin("maxLineBytes", length, this.#limits.maxLineBytes, this.#offset + mark);
      throw new CountersignError("ERR_SSE_UTF8", `not UTF-8 at byte ${offset}`, { offset });
    }
    const ascii = text.length === bytes.length;
    if (this.#offset === 0 && text.charCodeAt(0) === 0xfeff) {
      this.#blocks.read(text.slice(1), 3, ascii, messages);
    } else this.#blocks.read(text, this.#offset, ascii, messages);
    this.#offset += bytes.length;
  }
}
