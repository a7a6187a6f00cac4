import { isSpace } from "./characters.js";

const TAB = 0x09;
const GREATER = 0x3e;
const BYTE_ORDER_MARK = 0xfeff;
/** Longer numbers begin no list. */
const LONGEST_NUMBER = 9;
/** Marks of lists that are kept of one line; a line with more is not followed, so nothing in it is code. */
const MOST_MARKS = 16;

/** The mark of a list item, in columns. */
export type ListMark = {
  readonly column: number;
  /** The column behind it. */
  readonly end: number;
  /** Where what stands in the item begins; `0` until that is known. */
  content: number;
  /** Of a numbered list; `undefined` for bullets. */
  readonly number: number | undefined;
};

/** What most lines have. */
const NONE: readonly ListMark[] = [];

/** Reads what stands before the first word of a line: white space, marks of quotes and of lists. */
export class LineStart {
  /** Of the next character, with tabs as wide as CommonMark says. */
  column = 0;
  /** Marks of quotes. */
  quotes = 0;
  /** Columns before the first mark of a quote. */
  quoteColumn = 0;
  /** The column behind the last mark of a quote: what follows is measured from here. */
  base = 0;
  marks: readonly ListMark[] = NONE;
  /** Marks in an order that is not followed here, such as a quote within a list. */
  isMixed = false;
  /** Text has begun. */
  isOver = false;
  /** White space that not every renderer takes for it where the line holds nothing else: marked ends no paragraph at a tab. */
  isOdd = false;
  /** It began with what looked like a mark. */
  isStray = false;
  #bullet = 0;
  #digits = 0;
  #number = 0;
  #isDelimited = false;
  #isMark = false;

  /** Begins another line. */
  restart(): void {
    this.column = this.quotes = this.quoteColumn = this.base = 0;
    this.marks = NONE;
    this.isMixed = this.isOver = this.isStray = this.isOdd = false;
    this.#forgetMark();
  }

  /** Whether nothing but white space stands on the line so far. */
  get isBlank(): boolean {
    return !this.isOver && this.quotes === 0 && this.marks.length === 0 && !this.#isMark;
  }

  /** Columns of white space before the text, in a line without marks of lists. */
  get indent(): number {
    return this.column - this.base;
  }

  /** Takes the next character; whether text has begun with it, or before it. */
  feed(code: number): boolean {
    if (this.isOver) return true;
    if (isSpace(code)) this.#space(code);
    else if (this.#isMark) this.#continueMark(code);
    else this.#begin(code);
    return this.isOver;
  }

  #space(code: number): void {
    const width = code === TAB ? 4 - (this.column % 4) : 1;
    if (code === TAB) this.isOdd = true;
    // How wide a tab is behind the mark of a quote depends on what is counted as the mark.
    if (code === TAB && this.quotes > 0) this.isMixed = true;
    if (this.#isMark) {
      if (!this.#isDelimited && this.#bullet === 0) {
        this.isOver = this.isStray = true;
        return;
      }
      const number = this.#bullet === 0 ? this.#number : undefined;
      const length = this.#bullet === 0 ? this.#digits + 1 : 1;
      const end = this.column - this.base;
      if (this.marks.length >= MOST_MARKS) this.isMixed = true;
      else this.marks = [...this.marks, { column: end - length, end, content: 0, number }];
      this.#forgetMark();
    }
    this.column += width;
  }

  #continueMark(code: number): void {
    const isNumber = this.#bullet === 0 && !this.#isDelimited;
    if (isNumber && code >= 0x30 && code <= 0x39 && this.#digits < LONGEST_NUMBER) {
      this.#digits += 1;
      this.#number = this.#number * 10 + code - 0x30;
      this.column += 1;
    } else if (isNumber && (code === 0x2e || code === 0x29)) {
      this.#isDelimited = true;
      this.column += 1;
    } else this.isOver = this.isStray = true;
  }

  #begin(code: number): void {
    // Cut off at the beginning of a text.
    if (code === BYTE_ORDER_MARK) {
      this.isOdd = true;
      return;
    }
    const last = this.marks.at(-1);
    if (last?.content === 0) {
      const isCode = this.indent - last.end > 4;
      last.content = isCode ? last.end + 1 : this.indent;
    }
    if (code === GREATER) {
      if (last !== undefined) this.isMixed = true;
      if (this.quotes === 0) this.quoteColumn = this.column;
      this.quotes += 1;
      this.column += 1;
      this.base = this.column;
    } else if (code === 0x2d || code === 0x2b || code === 0x2a) {
      this.#isMark = true;
      this.#bullet = code;
      this.column += 1;
    } else if (code >= 0x30 && code <= 0x39) {
      this.#isMark = true;
      this.#digits = 1;
      this.#number = code - 0x30;
      this.column += 1;
    } else this.isOver = true;
  }

  #forgetMark(): void {
    this.#bullet = this.#digits = this.#number = 0;
    this.#isDelimited = this.#isMark = false;
  }
}
