import { isLetter, isSpace } from "./characters.js";

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const TICK = 0x60;
const DOLLAR = 0x24;
const TILDE = 0x7e;
const BACKSLASH = 0x5c;
const LESS = 0x3c;
const GREATER = 0x3e;
const BAR = 0x7c;
const SLASH = 0x2f;
const OPEN = 0x5b;
const CLOSE = 0x5d;
const EXCLAMATION = 0x21;
const QUESTION = 0x3f;
const DOUBLE_QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;
const OPEN_PARENTHESIS = 0x28;
const CLOSE_PARENTHESIS = 0x29;

/**
 * Follows inline code (`` `like this` ``), which a run of backticks opens and the next run of the same length
 * closes.
 *
 * Until it is closed, a renderer shows it as text. A formula or crossed-out text that ends in it, a tag, an address, an
 * escape or the cell of a table may contain one of the backticks. Then nothing is code up to the end of the paragraph. The
 * same applies after a run that its line did not close.
 */
export class CodeSpans {
  /** Backticks that opened what is open. */
  #open = 0;
  #run = 0;
  #isDoubtful = false;
  #before = 0;
  /** A character that may open a formula or crossed-out text, which can end in code. */
  #sawDollar = false;
  #sawTilde = false;
  /** Since the last white space: an address, or what may be one. */
  #isAddress = false;
  #isAngle = false;
  /** Between `](` and `)`. */
  #isDestination = false;
  /** Brackets of the paragraph that are open: renderers differ in whether a label or code ends first. */
  #brackets = 0;
  /** A possible tag, which may contain a backtick; a tag with a quotation mark may end anywhere in the paragraph. */
  #tag: "none" | "begun" | "open" | "quoted" = "none";

  /** Code is open, and everybody agrees that it will be code once it is closed. */
  get isOpen(): boolean {
    return this.#open > 0 && !this.#isDoubtful;
  }

  /** No bracket of the paragraph is open outside of code. */
  get isOutsideLabels(): boolean {
    return this.#brackets === 0;
  }

  get #isInTag(): boolean {
    return this.#tag === "open" || this.#tag === "quoted";
  }

  /** The text so far ends with what closes the code; one more backtick would not. */
  get isClosing(): boolean {
    return this.isOpen && this.#run === this.#open;
  }

  /** Only a backtick, or one of few other characters, would change something. */
  get isResting(): boolean {
    if (this.#tag === "begun" || this.#tag === "open") return false;
    return this.#run === 0 && !this.#isAddress && !this.#isAngle && !this.#isDestination;
  }

  /** Takes the next character; whether code was closed before it. */
  feed(code: number): boolean {
    const before = this.#before;
    this.#before = code;
    if (code === TICK) {
      if (this.#open === 0 && this.#run === 0 && this.#isHidden(before)) this.#isDoubtful = true;
      this.#run += 1;
      return false;
    }
    const isClosed = this.#run > 0 && this.#endRun();
    if (code === LINE_FEED || code === CARRIAGE_RETURN) {
      if (this.#open > 0) this.#isDoubtful = true;
      this.#open = 0;
    } else if (this.#open > 0) {
      const isTaken =
        code === BAR || (code === DOLLAR && this.#sawDollar) || (code === TILDE && this.#sawTilde);
      if (isTaken) this.#isDoubtful = true;
      return isClosed;
    } else if (code === DOLLAR) this.#sawDollar = true;
    else if (code === TILDE) this.#sawTilde = true;
    this.#look(code, before);
    return isClosed;
  }

  /** A paragraph is over. */
  endParagraph(): void {
    this.#open = this.#run = this.#brackets = 0;
    this.#tag = "none";
    this.#isDoubtful = this.#isDestination = this.#sawDollar = this.#sawTilde = false;
  }

  /** A block of code has begun; its fence was not inline code. */
  skipCode(): void {
    this.endParagraph();
  }

  /** An address that has no scheme (`www.`) has just begun. */
  beginAddress(): void {
    this.#isAddress = true;
  }

  /** Nothing counts as code to the end of the paragraph. */
  distrust(): void {
    this.#isDoubtful = true;
  }

  #endRun(): boolean {
    const isClosed = this.#open === this.#run;
    if (isClosed) this.#open = 0;
    else if (this.#open === 0) this.#open = this.#run;
    this.#run = 0;
    return isClosed && !this.#isDoubtful;
  }

  #isHidden(before: number): boolean {
    const isInside = this.#isAddress || this.#isAngle || this.#isDestination || this.#isInTag;
    // marked up to 15 takes a backtick directly behind a tilde for text.
    return before === BACKSLASH || before === TILDE || isInside;
  }

  #look(code: number, before: number): void {
    if (code === OPEN) this.#brackets += 1;
    else if (code === CLOSE && before !== BACKSLASH && this.#brackets > 0) this.#brackets -= 1;
    this.#lookForTag(code);
    if (isSpace(code)) this.#isAddress = this.#isAngle = false;
    if (code === LESS) this.#isAngle = true;
    else if (code === GREATER) this.#isAngle = false;
    else if (code === SLASH && before === SLASH) this.#isAddress = true;
    else if (code === OPEN_PARENTHESIS && before === CLOSE) this.#isDestination = true;
    else if (code === CLOSE_PARENTHESIS) this.#isDestination = false;
  }

  #lookForTag(code: number): void {
    if (this.#tag === "quoted") return;
    if (code === LESS) this.#tag = "begun";
    else if (this.#tag === "begun") {
      // The end of a comment is not looked for.
      const isComment = code === EXCLAMATION || code === QUESTION;
      const isTag = isLetter(code) || code === SLASH;
      this.#tag = isComment ? "quoted" : isTag ? "open" : "none";
    } else if (this.#tag === "open") {
      if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) this.#tag = "quoted";
      else if (code === GREATER) this.#tag = "none";
    }
  }
}
