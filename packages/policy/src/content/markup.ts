/** Elements that load, run, cover or ask for something once they have an attribute. */
const ACTIVE: ReadonlySet<string> = new Set(
  (
    "a applet area audio base body button details dialog embed form frame frameset head html iframe image img " +
    "input link map math meta object picture portal script select source style svg template textarea track video"
  ).split(" "),
);
/** Elements that do so as they are, even where what follows in the page has to close their tag. */
const ACTIVE_BARE: ReadonlySet<string> = new Set(["math", "script", "style", "svg", "template"]);
/** Attributes that run or load something, beside all that begin with `on`. */
const ACTIVE_ATTRIBUTE =
  /^(?:on.*|style|src|srcset|srcdoc|href|action|formaction|data|background|poster|ping)$/;
const LONGEST_NAME = 16;

const LESS = 0x3c;
const GREATER = 0x3e;
const EQUALS = 0x3d;
const SLASH = 0x2f;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const COLON = 0x3a;
const CLOSE = 0x5d;

type Place = "text" | "name" | "attributes";

/**
 * Finds HTML that does something: an active element, or any element with a value in an attribute.
 *
 * What stands in a fenced code block is shown as text by every Markdown renderer. A block of raw HTML swallows
 * the fence, and so does the title of a reference in some renderers: after either, fences no longer count.
 */
export class Markup {
  readonly #fence = new Fence();
  #place: Place = "text";
  #name = "";
  #hasValue = false;
  #attribute = "";
  #attributeEnded = false;
  #hidesFences = false;
  #before = 0;

  /** Whether active markup is certain with this code unit. */
  feed(code: number): boolean {
    const inCode = this.#fence.feed(code) && !this.#hidesFences && !this.#fence.isUncertain;
    if (inCode) {
      this.#place = "text";
      return false;
    }
    const isDefinition = code === COLON && this.#before === CLOSE;
    this.#before = code;
    if (isDefinition || (code === LESS && this.#fence.atLineStart)) this.#hidesFences = true;
    switch (this.#place) {
      case "text":
        if (code === LESS) {
          this.#place = "name";
          this.#name = "";
          this.#hasValue = false;
        }
        return false;
      case "name":
        return this.#feedName(code);
      case "attributes":
        return this.#feedAttributes(code);
    }
  }

  #feedName(code: number): boolean {
    if (isNameCharacter(code, this.#name === "")) {
      if (this.#name.length <= LONGEST_NAME) this.#name += String.fromCharCode(code | 0x20);
      return ACTIVE_BARE.has(this.#name);
    }
    const name = this.#name;
    this.#place = code === LESS ? "name" : "text";
    this.#name = "";
    if (name === "" || (code !== SLASH && !isSpace(code))) return false;
    if (ACTIVE.has(name)) return true;
    this.#place = "attributes";
    this.#attribute = "";
    return false;
  }

  #feedAttributes(code: number): boolean {
    if (code === EQUALS) {
      this.#hasValue = true;
      return ACTIVE_ATTRIBUTE.test(this.#attribute);
    }
    if (code === GREATER) {
      this.#place = "text";
      return this.#hasValue;
    }
    // Where this was no tag after all, the next one begins here.
    if (code === LESS) {
      this.#place = "name";
      this.#name = "";
    } else if (isSpace(code) || code === SLASH) this.#attributeEnded = true;
    else this.#addToAttribute(code);
    return false;
  }

  #addToAttribute(code: number): void {
    if (this.#attributeEnded) this.#attribute = "";
    this.#attributeEnded = false;
    if (this.#attribute.length <= LONGEST_NAME) {
      this.#attribute += String.fromCharCode(code).toLowerCase();
    }
  }
}

function isNameCharacter(code: number, isFirst: boolean): boolean {
  const lower = code | 0x20;
  if (lower >= 0x61 && lower <= 0x7a) return true;
  return !isFirst && ((code >= 0x30 && code <= 0x39) || code === 0x2d);
}

function isSpace(code: number): boolean {
  return code === SPACE || (code >= 0x09 && code <= 0x0d);
}

/** Follows fenced code blocks as CommonMark defines them, but only those that begin in the first column. */
class Fence {
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
