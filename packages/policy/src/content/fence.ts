const LESS = 0x3c;
const GREATER = 0x3e;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const BYTE_ORDER_MARK = 0xfeff;

/** Follows fenced code blocks as CommonMark defines them, but only those that begin in the first column. */
export class Fence {
  /** The fence's character and length while one is open. */
  #character = 0;
  #length = 0;
  /** The current line so far: indentation, a run of one fence character, what follows it. */
  #indent = 0;
  #run = 0;
  #runOf = 0;
  #rest: "none" | "space" | "text" | "tick" = "none";
  #hasText = false;
  #isUncertain = false;

  /** A fence came that some renderers open and others do not: from here on nobody knows what is code. */
  get isUncertain(): boolean {
    return this.#isUncertain;
  }

  /** Nothing but white space and marks of lists and quotes stands before the current character. */
  get atLineStart(): boolean {
    return !this.#hasText;
  }

  get isOpen(): boolean {
    return this.#length > 0;
  }

  /** Takes the next character; whether it stands inside a code block. */
  feed(code: number): boolean {
    const inside = this.#length > 0;
    if (code === LINE_FEED || code === CARRIAGE_RETURN) this.#endLine();
    else this.#addToLine(code);
    return inside;
  }

  #endLine(): void {
    const isRun = this.#run >= 3 && this.#indent <= 3;
    if (this.#length === 0) {
      // Indented it could belong to a list, and end with it. An info string after backticks holds no
      // backtick: that would be code within a line.
      if (isRun && this.#indent === 0 && !(this.#runOf === 0x60 && this.#rest === "tick")) {
        this.#character = this.#runOf;
        this.#length = this.#run;
      } else if (this.#run >= 3) this.#isUncertain = true;
    } else if (isRun && this.#runOf === this.#character && this.#run >= this.#length) {
      if (this.#rest === "none" || this.#rest === "space") this.#length = 0;
    }
    this.#indent = this.#run = this.#runOf = 0;
    this.#rest = "none";
    this.#hasText = false;
  }

  #addToLine(code: number): void {
    // Most of a line: nothing behind its first word changes what the line is.
    if (this.#hasText && this.#run === 0) return;
    const isFenceCharacter = code === 0x60 || code === 0x7e;
    if (this.#rest === "none" && isFenceCharacter && (this.#run === 0 || code === this.#runOf)) {
      if (!this.#hasText || this.#run > 0) {
        this.#runOf = code;
        this.#run += 1;
        this.#hasText = true;
        return;
      }
    }
    // Cut off at the beginning of a text.
    if (code === BYTE_ORDER_MARK && !this.#hasText) return;
    if (this.#run === 0 && !this.#hasText && isSpace(code)) {
      // A tab is at least as wide as what makes an indented block.
      this.#indent += code === SPACE ? 1 : 4;
      return;
    }
    if (this.#run > 0) {
      if (code === 0x60) this.#rest = "tick";
      else if (this.#rest !== "tick") {
        this.#rest = isSpace(code) && this.#rest !== "text" ? "space" : "text";
      }
    }
    // A mark of a list or quote may stand before a block of HTML, but not before a fence at the top level.
    if (this.#run === 0 && isMark(code)) this.#indent += 4;
    else if (code !== LESS) this.#hasText = true;
  }
}

/** Characters of quotes, bullets and numbers. */
function isMark(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    code === GREATER ||
    code === 0x2a ||
    code === 0x2b ||
    code === 0x2d ||
    code === 0x2e ||
    code === 0x29
  );
}

/** White space of HTML. */
export function isSpace(code: number): boolean {
  return code === SPACE || (code >= 0x09 && code <= 0x0d);
}
