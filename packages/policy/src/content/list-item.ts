import { isForeignSpace, isSpace } from "./characters.js";

const SPACE = 0x20;
/** With more spaces before a mark or after it, renderers differ. */
const MOST_SPACES = 3;
const LONGEST_NUMBER = 9;

const isAnySpace = (code: number): boolean => isSpace(code) || isForeignSpace(code);
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/** A line that starts a list item in every renderer. */
export type ListItem = {
  readonly indent: number;
  /** The bullet, or the character after the number. */
  readonly mark: number;
  /** The column of its text. */
  readonly column: number;
};

/**
 * Reads a line, and compares it with a plain list item: spaces, a bullet or a number, spaces and
 * text.
 */
export class ItemLine {
  #part: "indent" | "number" | "gap" | "text" | "none" = "indent";
  #indent = 0;
  #mark = 0;
  #width = 0;
  #number = 0;
  #gap = 0;

  /** Starts another line. */
  restart(): void {
    this.#part = "indent";
    this.#indent = this.#mark = this.#width = this.#number = this.#gap = 0;
  }

  /**
   * The item that the line starts. A number other than one interrupts no paragraph; `previous` is
   * the item that the previous line started.
   */
  itemAfter(previous: ListItem | undefined, mayBeInParagraph: boolean): ListItem | undefined {
    if (this.#part !== "text") return undefined;
    const isNext = previous?.indent === this.#indent && previous.mark === this.#mark;
    if (mayBeInParagraph && this.#number > 1 && !isNext) return undefined;
    const depth = this.#indent - (previous?.column ?? 0);
    const isInside = depth >= 0 && depth <= MOST_SPACES;
    if (this.#indent > MOST_SPACES && !isInside && !isNext) return undefined;
    const column = this.#indent + this.#width + this.#gap;
    return { indent: this.#indent, mark: this.#mark, column };
  }

  /** Takes the next character of the line. */
  feed(code: number): void {
    if (this.#part === "indent") this.#begin(code);
    else if (this.#part === "number") this.#continueNumber(code);
    else if (this.#part === "gap") {
      if (code === SPACE && this.#gap < MOST_SPACES) this.#gap += 1;
      else this.#part = this.#gap > 0 && !isAnySpace(code) ? "text" : "none";
    }
  }

  #begin(code: number): void {
    if (code === SPACE) {
      this.#indent += 1;
      return;
    }
    this.#width = 1;
    if (code === 0x2d || code === 0x2b || code === 0x2a) {
      this.#mark = code;
      this.#part = "gap";
    } else if (isDigit(code) && code !== 0x30) {
      this.#number = code - 0x30;
      this.#part = "number";
    } else this.#part = "none";
  }

  #continueNumber(code: number): void {
    this.#width += 1;
    if (isDigit(code) && this.#width <= LONGEST_NUMBER) {
      this.#number = this.#number * 10 + code - 0x30;
    } else if (code === 0x2e || code === 0x29) {
      this.#mark = code;
      this.#part = "gap";
    } else this.#part = "none";
  }
}
