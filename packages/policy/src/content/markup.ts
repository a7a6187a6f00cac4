import { isSpace } from "./fence.js";

/** Elements that load, run or ask for something once they have an attribute with a value. */
const ACTIVE: ReadonlySet<string> = new Set(
  (
    "a applet area audio base body button details embed form frame frameset head html iframe image img " +
    "input link map math meta object picture portal script select source style svg template textarea track video"
  ).split(" "),
);
/** Elements that do so as they are, even where what follows in the page has to close their tag. */
const ACTIVE_BARE: ReadonlySet<string> = new Set(["math", "script", "style", "svg", "template"]);
/** Attributes that run or load something, beside all that begin with `on`. */
const ACTIVE_ATTRIBUTE =
  /^(?:on.*|style|src|srcset|srcdoc|href|action|formaction|data|background|poster|ping)$/;
/** Covers the page with an attribute that needs no value. */
const DIALOG = "dialog";
const LONGEST_NAME = 16;

const LESS = 0x3c;
const GREATER = 0x3e;
const EQUALS = 0x3d;
const SLASH = 0x2f;
const DOUBLE_QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;

type Place = "text" | "name" | "attributes";

/** Finds HTML that does something: an active element, or any element with a value in an attribute. */
export class Markup {
  #place: Place = "text";
  #name = "";
  /** The tag that is open, or one that a browser may see begin before it, is of an active element. */
  #isActive = false;
  #hasValue = false;
  #attribute = "";
  #attributeEnded = false;
  /** The quotation mark around a value, while one is open. */
  #quote = 0;

  /** A block of code ends whatever was open. */
  skipCode(): void {
    this.#place = "text";
  }

  /** Whether active markup is certain with this code unit. */
  feed(code: number): boolean {
    switch (this.#place) {
      case "text":
        if (code === LESS) {
          this.#place = "name";
          this.#name = "";
          this.#hasValue = this.#isActive = false;
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
    if (name === DIALOG) return true;
    // `<input file>` and `5 <a and b` are prose.
    if (ACTIVE.has(name)) this.#isActive = true;
    this.#place = "attributes";
    this.#attribute = "";
    this.#quote = 0;
    return false;
  }

  #feedAttributes(code: number): boolean {
    if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) {
      if (this.#quote === code) {
        this.#quote = 0;
        this.#attributeEnded = true;
        return false;
      } else if (this.#quote === 0 && this.#hasValue) this.#quote = code;
    }
    if (code === EQUALS) {
      this.#hasValue = true;
      return this.#isActive || ACTIVE_ATTRIBUTE.test(this.#attribute);
    }
    if (code === GREATER) {
      this.#place = "text";
      return this.#hasValue;
    }
    // Where this was no tag after all, the next one begins here; within a value it is one.
    if (code === LESS) {
      if (this.#quote !== 0) return true;
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
