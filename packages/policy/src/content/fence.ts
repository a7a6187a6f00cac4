import { isSpace } from "./characters.js";

const TAB = 0x09;
const TICK = 0x60;
const TILDE = 0x7e;
const GREATER = 0x3e;
const BAR = 0x7c;

/** Where a fence stands, in columns. */
export type FencePlace = {
  /** In a quote: columns before its mark. */
  readonly quote: number | undefined;
  /** Columns before the fence, in a quote behind its mark. */
  readonly indent: number;
  /** A line that is indented less may end it, for some renderer. */
  readonly mayEnd: boolean;
};

/** Reads a run of backticks or tildes at the beginning of a line, and what follows it. */
export class FenceRun {
  /** The character of the run; `0` where the line does not begin with one. */
  character = 0;
  length = 0;
  /** A bar follows it: markdown-it takes the line for the head of a table, if the next one is made of dashes. */
  hasBar = false;
  #rest: "none" | "space" | "text" | "tick" = "none";

  /** Begins another line. */
  restart(): void {
    this.character = this.length = 0;
    this.hasBar = false;
    this.#rest = "none";
  }

  /** Takes a character of the line's text. */
  feed(code: number): void {
    if (this.#rest === "none") {
      if (this.character === 0 && (code === TICK || code === TILDE)) this.character = code;
      if (code === this.character) {
        this.length += 1;
        return;
      }
    }
    if (code === BAR) this.hasBar = true;
    if (code === TICK) this.#rest = "tick";
    else if (this.#rest !== "tick") {
      this.#rest = isSpace(code) && this.#rest !== "text" ? "space" : "text";
    }
  }

  /** An info string after backticks holds no backtick: that would be code within a line. */
  get opens(): boolean {
    return this.length >= 3 && !(this.character === TICK && this.#rest === "tick");
  }

  /** Nothing follows the run. */
  get isBare(): boolean {
    return this.#rest === "none" || this.#rest === "space";
  }
}

/** Follows the lines of one fenced block to its end. */
export class OpenFence {
  readonly #character: number;
  readonly #length: number;
  readonly #place: FencePlace;
  readonly #run = new FenceRun();
  #column = 0;
  #base = 0;
  #isQuoted = false;
  #hasText = false;
  #indent = 0;

  constructor({ character, length }: FenceRun, place: FencePlace) {
    this.#character = character;
    this.#length = length;
    this.#place = place;
  }

  /** The line has text already, so that nothing but its end matters. */
  get isResting(): boolean {
    return this.#hasText && this.#run.character === 0;
  }

  /** Takes a character of a line; `false` where nobody knows any more whether this is code. */
  feed(code: number): boolean {
    if (this.#hasText) {
      if (this.#run.character !== 0) this.#run.feed(code);
      return true;
    }
    if (isSpace(code)) {
      this.#column += code === TAB ? 4 - (this.#column % 4) : 1;
      return true;
    }
    const { quote, indent, mayEnd } = this.#place;
    if (quote !== undefined && !this.#isQuoted) {
      if (code !== GREATER || this.#column !== quote) return false;
      this.#isQuoted = true;
      this.#column += 1;
      this.#base = this.#column;
      return true;
    }
    this.#hasText = true;
    this.#indent = this.#column - this.#base;
    if (this.#indent < indent && mayEnd) return false;
    if (code === TICK || code === TILDE) this.#run.feed(code);
    return true;
  }

  /** A line is over: what comes next is code, is not, or is both to different renderers. */
  endLine(): "code" | "text" | "unknown" {
    const next = this.#next();
    this.#column = this.#base = this.#indent = 0;
    this.#isQuoted = this.#hasText = false;
    this.#run.restart();
    return next;
  }

  #next(): "code" | "text" | "unknown" {
    const { quote, indent } = this.#place;
    if (quote !== undefined && !this.#isQuoted) return "unknown";
    const run = this.#run;
    const isEnd = run.character === this.#character && run.length >= this.#length && run.isBare;
    if (!isEnd) return "code";
    // Indented by four more than what it stands in, a fence is code: but what that is, nobody knows for sure.
    if (this.#indent === indent || this.#indent <= 3) return "text";
    return this.#indent > indent + 3 || !this.#place.mayEnd ? "code" : "unknown";
  }
}
