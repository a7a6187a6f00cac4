import { isForeignSpace, isSpace } from "./characters.js";

const TAB = 0x09;
const GREATER = 0x3e;

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/**
 * Skips the characters that may precede the text of a line: white space, and marks of quotes and of
 * lists in any order.
 */
export class LineStart {
  /** The line is empty so far. */
  isEmpty = true;
  /** A quote or a list item may start on the line. */
  hasQuote = false;
  hasItem = false;
  /** The quote is inside another, or in a list item. */
  hasQuoteInside = false;
  /** The text has started. */
  isOver = false;
  /**
   * White space that not every renderer treats as such on an otherwise empty line: marked ends no
   * paragraph at a tab.
   */
  isOdd = false;
  /** The text started with an apparent list mark. */
  isStray = false;
  #mark: "none" | "number" | "whole" = "none";

  /** Starts another line. */
  restart(): void {
    this.isEmpty = true;
    this.hasQuote =
      this.hasQuoteInside =
      this.hasItem =
      this.isOver =
      this.isOdd =
      this.isStray =
        false;
    this.#mark = "none";
  }

  /** Whether the line has only white space so far. */
  get isBlank(): boolean {
    return !this.isOver && !this.hasQuote && !this.hasItem && this.#mark === "none";
  }

  /** Takes the next character; returns whether the text has started with it, or before it. */
  feed(code: number): boolean {
    if (this.isOver) return true;
    this.isEmpty = false;
    if (this.#mark !== "none") this.#continueMark(code);
    else this.#begin(code);
    return this.isOver;
  }

  #continueMark(code: number): void {
    if (this.#mark === "whole" && isSpace(code)) {
      this.hasItem = true;
      this.#mark = "none";
      if (code === TAB) this.isOdd = true;
    } else if (this.#mark === "number" && (code === 0x2e || code === 0x29)) this.#mark = "whole";
    else if (this.#mark === "whole" || !isDigit(code)) this.isOver = this.isStray = true;
  }

  #begin(code: number): void {
    if (isSpace(code)) {
      if (code === TAB) this.isOdd = true;
      // Pages trim it at the start of a text.
    } else if (isForeignSpace(code)) this.isOdd = true;
    else if (code === GREATER) {
      this.hasQuoteInside ||= this.hasQuote || this.hasItem;
      this.hasQuote = true;
    } else if (code === 0x2d || code === 0x2b || code === 0x2a) this.#mark = "whole";
    else if (isDigit(code)) this.#mark = "number";
    else this.isOver = true;
  }
}
