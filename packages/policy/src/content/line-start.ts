import { isSpace } from "./characters.js";

const TAB = 0x09;
const GREATER = 0x3e;
const BYTE_ORDER_MARK = 0xfeff;

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/** Skips what may stand before the text of a line: white space, and marks of quotes and of lists in any order. */
export class LineStart {
  /** Nothing stands on the line so far. */
  isEmpty = true;
  /** A quote or a list item may begin on the line. */
  hasQuote = false;
  hasItem = false;
  /** The quote stands in another, or in a list item. */
  hasQuoteInside = false;
  /** Text has begun. */
  isOver = false;
  /** White space that not every renderer takes for it where the line holds nothing else: marked ends no paragraph at a tab. */
  isOdd = false;
  /** The text began with what looked like the mark of a list. */
  isStray = false;
  #mark: "none" | "number" | "whole" = "none";

  /** Begins another line. */
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

  /** Whether nothing but white space stands on the line so far. */
  get isBlank(): boolean {
    return !this.isOver && !this.hasQuote && !this.hasItem && this.#mark === "none";
  }

  /** Takes the next character; whether text has begun with it, or before it. */
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
      // Cut off at the beginning of a text.
    } else if (code === BYTE_ORDER_MARK) this.isOdd = true;
    else if (code === GREATER) {
      this.hasQuoteInside ||= this.hasQuote || this.hasItem;
      this.hasQuote = true;
    } else if (code === 0x2d || code === 0x2b || code === 0x2a) this.#mark = "whole";
    else if (isDigit(code)) this.#mark = "number";
    else this.isOver = true;
  }
}
