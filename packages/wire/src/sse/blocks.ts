import { assertWithin, utf8Length } from "@countersign/core";
import type { Limits } from "@countersign/core";
import type { SseMessage } from "./message.js";

const LF = 10;
const CR = 13;
const SPACE = 32;
const COLON = 58;

/**
 * Reads text that consists of whole lines into messages (WHATWG HTML §9.2.6); what a line belongs to
 * is remembered between calls.
 */
export class BlockReader {
  readonly #maxLine: number;
  readonly #maxFrame: number;
  /** The first line of data; nearly every block has only this one. */
  #first: string | undefined;
  /** Further lines, joined at the end: as one rope, two million empty lines would take 128 MB. */
  #rest: string[] | undefined;
  #event: string | undefined;
  #id: string | undefined;
  #retry: number | undefined;
  /** Bytes of the data so far; characters instead while `#estimated`. */
  #dataBytes = 0;
  #estimated = true;
  /** Comment lines so far: the heartbeats of a quiet server. */
  comments = 0;

  constructor(limits: Limits) {
    this.#maxLine = limits.maxLineBytes;
    this.#maxFrame = limits.maxFrameBytes;
  }

  /** Whether lines were read that no blank line has closed yet. */
  get open(): boolean {
    return this.#first !== undefined || this.#event !== undefined || this.#id !== undefined;
  }

  /**
   * Reads the lines of a text that ends with a line ending.
   *
   * @param offset the byte offset of the text in its stream, for errors
   * @param ascii whether one character is one byte
   */
  read(text: string, offset: number, ascii: boolean, messages: SseMessage[]): void {
    if (text.includes("\r")) this.#readAnyEnding(text, offset, ascii, messages);
    else this.#readLines(text, offset, ascii, messages);
  }

  /** LF only, as nearly every server writes: the engine's own search finds the ends. */
  #readLines(text: string, offset: number, ascii: boolean, messages: SseMessage[]): void {
    const length = text.length;
    let at = 0;
    while (at < length) {
      const end = text.indexOf("\n", at);
      if (end < 0) return;
      if (end === at) this.dispatch(messages);
      else this.#line(text, at, end, offset, ascii);
      at = end + 1;
    }
  }

  /**
   * LF, CRLF and CR in any mix, unit by unit. Two searches that each wait until they are passed would
   * look linear, but V8 moves a pure `indexOf` into the loop: a scan of the rest for every line.
   */
  #readAnyEnding(text: string, offset: number, ascii: boolean, messages: SseMessage[]): void {
    const length = text.length;
    let at = 0;
    for (let end = 0; end < length; end++) {
      const unit = text.charCodeAt(end);
      if (unit !== LF && unit !== CR) continue;
      if (end === at) this.dispatch(messages);
      else this.#line(text, at, end, offset, ascii);
      if (unit === CR && text.charCodeAt(end + 1) === LF) end++;
      at = end + 1;
    }
  }

  /** Ends a block, as a blank line does: a message when there was data, and a clean slate. */
  dispatch(messages: SseMessage[]): void {
    if (this.#first !== undefined) {
      const message: SseMessage = { data: this.#joined(this.#first) };
      if (this.#event !== undefined) message.event = this.#event;
      if (this.#id !== undefined) message.id = this.#id;
      if (this.#retry !== undefined) message.retry = this.#retry;
      messages.push(message);
      this.#first = undefined;
      this.#rest = undefined;
    }
    this.#event = undefined;
    this.#id = undefined;
    this.#retry = undefined;
    this.#dataBytes = 0;
    this.#estimated = true;
  }

  #line(text: string, start: number, end: number, offset: number, ascii: boolean): void {
    // No UTF-16 unit takes more than three bytes: far below the limit nothing is counted.
    if ((end - start) * 3 > this.#maxLine) {
      const bytes = ascii ? end - start : utf8Length(text.slice(start, end));
      assertWithin("maxLineBytes", bytes, this.#maxLine, byteOffset(text, start, offset, ascii));
    }
    if (isData(text, start)) {
      this.#append(text.slice(valueStart(text, start + 5), end));
    } else if (text.charCodeAt(start) === COLON) {
      this.comments++;
      return;
    } else this.#field(text.slice(start, end));
    if (this.#dataBytes * 3 > this.#maxFrame) {
      if (this.#estimated) {
        // From here on every line is measured; measuring the whole each time would be quadratic.
        this.#estimated = false;
        this.#dataBytes = utf8Length(this.#joined(this.#first ?? ""));
      }
      const at = byteOffset(text, start, offset, ascii);
      assertWithin("maxFrameBytes", this.#dataBytes, this.#maxFrame, at);
    }
  }

  #append(value: string): void {
    const bytes = this.#estimated ? value.length : utf8Length(value);
    if (this.#first === undefined) {
      this.#first = value;
      this.#dataBytes = bytes;
    } else {
      this.#rest ??= [];
      this.#rest.push(value);
      this.#dataBytes += bytes + 1;
    }
  }

  #joined(first: string): string {
    return this.#rest === undefined ? first : `${first}\n${this.#rest.join("\n")}`;
  }

  #field(line: string): void {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(valueStart(line, colon + 1));
    if (name === "data") this.#append(value);
    else if (name === "event") this.#event = value === "" ? undefined : value;
    else if (name === "id") {
      if (!value.includes("\0")) this.#id = value;
    } else if (name === "retry" && /^[0-9]{1,15}$/.test(value)) this.#retry = Number(value);
  }
}

function isData(text: string, at: number): boolean {
  return (
    text.charCodeAt(at) === 100 &&
    text.charCodeAt(at + 1) === 97 &&
    text.charCodeAt(at + 2) === 116 &&
    text.charCodeAt(at + 3) === 97 &&
    text.charCodeAt(at + 4) === COLON
  );
}

/** One space after the colon belongs to the framing. */
function valueStart(text: string, at: number): number {
  return text.charCodeAt(at) === SPACE ? at + 1 : at;
}

function byteOffset(text: string, at: number, offset: number, ascii: boolean): number {
  return offset + (ascii ? at : utf8Length(text, at));
}

/** The end of the last complete line between two places: the index after its ending, or `from`. */
export function afterLastLine(bytes: Uint8Array, from: number, to: number): number {
  for (let end = to; end > from; end--) {
    const byte = bytes[end - 1];
    if (byte === LF || byte === CR) return end;
  }
  return from;
}
