import { decodeUtf8, DEFAULT_LIMITS } from "@countersign/core";

/** How a line ended; the last one of a body may not. */
export type LineEnding = "lf" | "crlf" | "cr" | "none";

/** Takes the lines of a body. */
export type LineSink = {
  line(text: string, ending: LineEnding): void;
  /** A line that is not UTF-8; it is also handed to `line`, with replacement characters. */
  invalid(): void;
  /** A line over the limit; its text is dropped. */
  tooLong(): void;
};

const LF = 10;
const CR = 13;
const LENIENT = new TextDecoder("utf-8", { ignoreBOM: true });

/** Splits bytes into lines and keeps how each one ended, which is what a judge of framing looks at. */
export class LineSplitter {
  readonly #sink: LineSink;
  readonly #longest: number;
  /** The beginning of a line whose end has not come; grows by doubling, so dripped bytes cost linear time. */
  #held = new Uint8Array(0);
  #heldBytes = 0;
  /** A CR ended the last read: an LF that follows belongs to it. */
  #afterCr = false;
  #dropping = false;

  constructor(sink: LineSink, longest: number = DEFAULT_LIMITS.maxLineBytes) {
    this.#sink = sink;
    this.#longest = longest;
  }

  push(chunk: Uint8Array): void {
    let start = 0;
    if (this.#afterCr && chunk.length > 0) {
      this.#afterCr = false;
      const crlf = chunk[0] === LF;
      this.#emit(new Uint8Array(0), crlf ? "crlf" : "cr");
      if (crlf) start = 1;
    }
    for (let at = start; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte !== LF && byte !== CR) continue;
      const line = chunk.subarray(start, at);
      if (byte === LF) this.#emit(line, "lf");
      else if (at + 1 === chunk.length) {
        this.#hold(line);
        this.#afterCr = true;
      } else if (chunk[at + 1] === LF) {
        this.#emit(line, "crlf");
        at++;
      } else this.#emit(line, "cr");
      start = at + 1;
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start));
  }

  end(): void {
    if (this.#afterCr) this.#emit(new Uint8Array(0), "cr");
    else if (this.#heldBytes > 0 || this.#dropping) this.#emit(new Uint8Array(0), "none");
    this.#afterCr = false;
  }

  #hold(bytes: Uint8Array): void {
    if (this.#dropping) return;
    const needed = this.#heldBytes + bytes.length;
    if (needed > this.#longest) {
      this.#dropping = true;
      this.#release();
      this.#sink.tooLong();
      return;
    }
    if (needed > this.#held.length) {
      const grown = new Uint8Array(Math.max(needed, this.#held.length * 2, 1024));
      grown.set(this.#held.subarray(0, this.#heldBytes));
      this.#held = grown;
    }
    this.#held.set(bytes, this.#heldBytes);
    this.#heldBytes = needed;
  }

  #release(): void {
    this.#heldBytes = 0;
    // One long line must not pin its memory for the rest of the stream.
    if (this.#held.length > 65_536) this.#held = new Uint8Array(0);
  }

  #emit(last: Uint8Array, ending: LineEnding): void {
    let bytes = last;
    if (this.#heldBytes > 0 || this.#dropping || last.length > this.#longest) {
      this.#hold(last);
      if (this.#dropping) {
        this.#dropping = false;
        return;
      }
      bytes = this.#held.subarray(0, this.#heldBytes);
    }
    let text = decodeUtf8(bytes);
    if (text === undefined) {
      this.#sink.invalid();
      text = LENIENT.decode(bytes);
    }
    this.#release();
    this.#sink.line(text, ending);
  }
}
