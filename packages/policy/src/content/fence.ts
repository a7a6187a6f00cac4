import { isForeignSpace, isLetter, isSpace } from "./characters.js";

const SPACE = 0x20;
const GREATER = 0x3e;
const TICK = 0x60;
const TILDE = 0x7e;
const SHORTEST_RUN = 3;
const LETTER = /\p{L}/u;

/** Printable ASCII in an info string; a bar makes a table of the line in markdown-it, the others close a fence. */
const isInfo = (code: number): boolean =>
  code >= SPACE && code < 0x7f && code !== TICK && code !== TILDE && code !== 0x7c;

/**
 * Reads a line outside of code, and compares it with a plain fence: the mark of a quote or none, spaces, three or more
 * backticks or tildes, and an info string. On anything else that resembles a fence renderers may differ.
 */
export class FenceLine {
  /** The line begins with `>`. */
  isQuoted = false;
  /** Spaces before the fence, in a quote behind its mark and one space. */
  indent = 0;
  /** The character of the fence. */
  character = 0;
  /** How many of them. */
  length = 0;
  #part: "start" | "quote" | "indent" | "run" | "info" | "other" | "words" = "start";
  #resembles = false;
  /** Backticks and tildes, or letters, in a row. */
  #marks = 0;
  #letters = 0;

  /** Begins another line. */
  restart(): void {
    this.indent = this.character = this.length = this.#marks = this.#letters = 0;
    this.#part = "start";
    this.isQuoted = this.#resembles = false;
  }

  /** The line is a plain fence. */
  get isPlain(): boolean {
    return (this.#part === "run" || this.#part === "info") && this.length >= SHORTEST_RUN;
  }

  /** Some renderer may take the line for a fence. */
  get mayBeFence(): boolean {
    return this.#resembles || this.length >= SHORTEST_RUN;
  }

  /** Words have begun: to no renderer can a fence follow on this line. */
  get isResting(): boolean {
    return this.#part === "words";
  }

  /** Takes the next character of the line. */
  feed(code: number): void {
    switch (this.#part) {
      case "start":
        this.isQuoted = code === GREATER;
        if (this.isQuoted) this.#part = "quote";
        else this.#feedIndent(code);
        return;
      case "quote":
        if (code === SPACE) this.#part = "indent";
        else this.#feedOther(code);
        return;
      case "indent":
        this.#feedIndent(code);
        return;
      case "run":
        if (code === this.character) this.length += 1;
        else if (this.length >= SHORTEST_RUN && isInfo(code)) this.#part = "info";
        else this.#feedOther(code);
        return;
      case "info":
        if (!isInfo(code)) this.#feedOther(code);
        return;
      case "other":
        this.#feedOther(code);
        return;
      case "words":
    }
  }

  #feedIndent(code: number): void {
    this.#part = "indent";
    if (code === SPACE) this.indent += 1;
    else if (code === TICK || code === TILDE) {
      this.#part = "run";
      this.character = code;
      this.length = 1;
    } else this.#feedOther(code);
  }

  #feedOther(code: number): void {
    this.#part = "other";
    this.#marks = code === TICK || code === TILDE ? this.#marks + 1 : 0;
    if (this.#marks >= SHORTEST_RUN) this.#resembles = true;
    const isWord = isLetter(code) || (code > 0x7f && LETTER.test(String.fromCharCode(code)));
    this.#letters = isWord ? this.#letters + 1 : 0;
    // One letter may stand in the box of a task.
    if (this.#letters > 1) this.#part = "words";
  }
}

/** Follows the lines between two plain fences. */
export class OpenFence {
  readonly #character: number;
  readonly #length: number;
  readonly #indent: number;
  readonly #isQuoted: boolean;
  #part: "start" | "quote" | "indent" | "run" | "behind" | "text" = "start";
  #spaces = 0;
  #run = 0;
  /** The line is not written as the closing fence is, even if it has a run as long. */
  #isOdd = false;

  constructor({ character, length, indent, isQuoted }: FenceLine) {
    this.#isQuoted = isQuoted;
    this.#character = character;
    this.#length = length;
    this.#indent = indent;
  }

  /** Nothing but the end of the line matters. */
  get isResting(): boolean {
    return this.#part === "text";
  }

  /** Takes a character of a line; `false` where the container of the fence, and the fence with it, may have ended. */
  feed(code: number): boolean {
    switch (this.#part) {
      case "start":
        if (!this.#isQuoted) return this.#feedIndent(code);
        this.#part = "quote";
        return code === GREATER;
      case "quote":
        this.#part = "indent";
        return code === SPACE;
      case "indent":
        return this.#feedIndent(code);
      case "run":
        if (code === this.#character) this.#run += 1;
        else if (this.#run < this.#length) this.#part = "text";
        else {
          this.#part = "behind";
          if (code !== SPACE) this.#isOdd = true;
        }
        return true;
      case "behind":
        if (code !== SPACE) this.#isOdd = true;
        return true;
      case "text":
        return true;
    }
  }

  #feedIndent(code: number): boolean {
    this.#part = "indent";
    if (code === SPACE) {
      this.#spaces += 1;
      return true;
    }
    if (this.#spaces < this.#indent) return false;
    if (code === this.#character) {
      this.#part = "run";
      this.#run = 1;
    } else if (isSpace(code) || isForeignSpace(code)) this.#isOdd = true;
    else this.#part = "text";
    return true;
  }

  /** A line is over: what comes next is code, is text, or is either to different renderers. */
  endLine(): "code" | "text" | "unknown" {
    const isOutside = this.#isQuoted && this.#part === "start";
    const isFence = this.#run >= this.#length || isOutside;
    const isClose = this.#run === this.#length && this.#spaces === this.#indent && !this.#isOdd;
    this.#part = "start";
    this.#spaces = this.#run = 0;
    this.#isOdd = false;
    if (!isFence) return "code";
    return isClose ? "text" : "unknown";
  }
}
