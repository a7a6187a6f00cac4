import { LineSplitter } from "./line-splitter.js";

/** One frame of an SSE body. */
export type TappedFrame = { data: string; event?: string; id?: string };

/** Takes frames and comments as they come by. */
export type TapSink = { frame(frame: TappedFrame): void; comment(text: string): void };

/** Listens to an SSE body without judging it: everything that can be read is handed on. */
export class SseTap {
  readonly #lines: LineSplitter;
  readonly #sink: TapSink;
  #first = true;
  #data: string[] = [];
  #event: string | undefined;
  #id: string | undefined;

  constructor(sink: TapSink) {
    this.#sink = sink;
    this.#lines = new LineSplitter({
      line: (text) => this.#line(text),
      invalid: () => {},
      tooLong: () => {},
    });
  }

  push(chunk: Uint8Array): void {
    this.#lines.push(chunk);
  }

  /** Ends the body; a last frame without a blank line counts, as it does for the official client. */
  end(): void {
    this.#lines.end();
    this.#dispatch();
  }

  #line(line: string): void {
    const text = this.#first && line.startsWith("\ufeff") ? line.slice(1) : line;
    this.#first = false;
    if (text === "") return this.#dispatch();
    if (text.startsWith(":")) return this.#sink.comment(text.slice(text.startsWith(": ") ? 2 : 1));
    const colon = text.indexOf(":");
    const name = colon < 0 ? text : text.slice(0, colon);
    const value =
      colon < 0 ? "" : text.slice(text.charCodeAt(colon + 1) === 32 ? colon + 2 : colon + 1);
    if (name === "data") this.#data.push(value);
    else if (name === "event") this.#event = value;
    else if (name === "id") this.#id = value;
  }

  #dispatch(): void {
    if (this.#data.length > 0) {
      this.#sink.frame({
        data: this.#data.join("\n"),
        ...(this.#event === undefined ? {} : { event: this.#event }),
        ...(this.#id === undefined ? {} : { id: this.#id }),
      });
    }
    this.#data = [];
    this.#event = undefined;
    this.#id = undefined;
  }
}
