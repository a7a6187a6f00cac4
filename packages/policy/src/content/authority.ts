import { isAlphanumeric } from "./characters.js";

const codeOf = (character: string): number => character.charCodeAt(0);
const ENDS: ReadonlySet<number> = new Set(Array.from("/?# \t\n\r", codeOf));
const AT = codeOf("@");
const AMPERSAND = codeOf("&");
const BACKSLASH = codeOf("\\");
const SEMICOLON = codeOf(";");
const [F, H, T, P, S, W] = ["f", "h", "t", "p", "s", "w"].map(codeOf);
const COLON = codeOf(":");
const SLASH = codeOf("/");
const DOT = codeOf(".");

/** The matched part of `https:`: the letters, and all of it. */
const AFTER_HTTP = 4;
const AFTER_HTTPS = 5;
const AFTER_COLON = 6;
/** The first slash of an address without a scheme. */
const AFTER_SLASH = 7;
/** The matched part of `www.`. */
const AFTER_W = 8;
const AFTER_WWW = 10;
/** The matched part of `ftp`, which ends like `https`. */
const AFTER_F = 11;
const AFTER_FT = 12;

/** Names of character references for the characters at the start of an address. */
const NAMES: ReadonlyMap<string, number> = new Map([
  ["colon", COLON],
  ["sol", SLASH],
  ["bsol", BACKSLASH],
  ["period", DOT],
  ["commat", AT],
]);
const LONGEST_NAME = 6;

/**
 * Finds web addresses in text with a user name before the host
 * (`https://bank.example@evil.example/`). Renderers make links of them: some of the raw text, and
 * some of the text with decoded references and backslashes (`https&colon;//…`). Both are checked. A
 * browser accepts any number of slashes.
 */
export class UserBeforeHost {
  readonly #written = new BareAddress();
  /** The decoded text, from the first difference until neither contains an address. */
  #decoded: BareAddress | undefined;
  /** The name or number of the open reference. */
  #reference: string | undefined;
  #isEscaped = false;

  /** Any character may complete a reference, so every character must be fed. */
  get isDecoding(): boolean {
    return this.#decoded !== undefined;
  }

  /** Whether such an address is certain with this code unit. */
  feed(code: number): boolean {
    if (this.#decoded === undefined) {
      if (code !== AMPERSAND && code !== BACKSLASH) return this.#written.feed(code);
      this.#decoded = this.#written.copy();
    }
    const isFound = this.#decode(code, this.#decoded);
    const isPending = this.#reference !== undefined || this.#isEscaped;
    if (!isPending && this.#decoded.isResting) this.#decoded = undefined;
    return this.#written.feed(code) || isFound;
  }

  #decode(code: number, decoded: BareAddress): boolean {
    if (this.#reference !== undefined) return this.#continueReference(code, decoded);
    if (this.#isEscaped) {
      this.#isEscaped = false;
      // Before a letter it is not an escape.
      const isFound = isPunctuation(code) ? false : decoded.feed(BACKSLASH);
      return decoded.feed(code) || isFound;
    }
    if (code === BACKSLASH) this.#isEscaped = true;
    else if (code === AMPERSAND) this.#reference = "";
    else return decoded.feed(code);
    return false;
  }

  /** HTML also decodes a number without its semicolon, and with any number of leading zeros. */
  #continueReference(code: number, decoded: BareAddress): boolean {
    const text = this.#reference ?? "";
    const letter = String.fromCharCode(code);
    const next = text + letter;
    if (/^(?:#|#x[\da-f]*|#\d+)$/i.test(next)) {
      const isZero = text === "#0" || text === "#x0" || text === "#X0";
      this.#reference = (isZero ? text.slice(0, -1) + letter : next).slice(0, LONGEST_NAME + 4);
      return false;
    }
    if (/^[a-z]+$/i.test(next) && next.length <= LONGEST_NAME) {
      this.#reference = next;
      return false;
    }
    this.#reference = undefined;
    const character = decodedFrom(text, code === SEMICOLON);
    let isFound = false;
    if (character === undefined) {
      isFound = decoded.feed(AMPERSAND);
      for (const letter of text) isFound = decoded.feed(codeOf(letter)) || isFound;
    } else {
      isFound = decoded.feed(character);
      if (code === SEMICOLON) return isFound;
    }
    return this.#decode(code, decoded) || isFound;
  }
}

/** The character of a reference, if it is relevant. */
function decodedFrom(reference: string, hasSemicolon: boolean): number | undefined {
  const number = /^#(?:x([\da-f]+)|(\d+))$/i.exec(reference);
  if (number === null) return hasSemicolon ? NAMES.get(reference) : undefined;
  const [, hex, decimal] = number;
  return hex === undefined ? Number.parseInt(decimal ?? "", 10) : Number.parseInt(hex, 16);
}

/** Follows one reading of a text. */
class BareAddress {
  #read = 0;
  #before = 0;
  /** A backslash precedes the last character: markdown-it starts a text after it. */
  #wasEscaped = false;
  #isInside = false;
  #isEmpty = true;

  copy(): BareAddress {
    const copy = new BareAddress();
    copy.#read = this.#read;
    copy.#before = this.#before;
    copy.#wasEscaped = this.#wasEscaped;
    copy.#isInside = this.#isInside;
    copy.#isEmpty = this.#isEmpty;
    return copy;
  }

  get isResting(): boolean {
    return this.#read === 0 && !this.#isInside;
  }

  /**
   * Whether a user name before the host is certain. Renderers differ in what ends an address: white
   * space does in all.
   */
  feed(code: number): boolean {
    const before = this.#before;
    this.#before = code;
    const read = this.#read;
    this.#read = next(read, code, this.#wasEscaped || isBoundary(before));
    this.#wasEscaped = before === BACKSLASH;
    // An address within another (`https://a,www.@b`) is a part of its name, and `www.` is a name itself.
    if (this.#read === AFTER_COLON && !this.#isInside) this.#isEmpty = code !== DOT;
    if (read === AFTER_COLON) {
      this.#isInside = true;
      // Any number of them.
      if (code === SLASH || code === BACKSLASH) {
        this.#read = AFTER_COLON;
        return false;
      }
    }
    if (!this.#isInside) return false;
    const isFound = (code === AT && !this.#isEmpty) || code === AMPERSAND;
    if (isFound || ENDS.has(code)) this.#isInside = false;
    this.#isEmpty = false;
    return isFound;
  }
}

function next(read: number, code: number, isAfterBoundary: boolean): number {
  if (code === SLASH) {
    if (read === AFTER_SLASH) return AFTER_COLON;
    return isAfterBoundary ? AFTER_SLASH : 0;
  }
  if (code === COLON) return read === AFTER_HTTP || read === AFTER_HTTPS ? AFTER_COLON : 0;
  if (code === DOT) return read === AFTER_WWW ? AFTER_COLON : 0;
  const letter = code | 0x20;
  if (letter === T) return read === 1 || read === 2 || read === AFTER_F ? read + 1 : 0;
  if (letter === P) return read === 3 ? AFTER_HTTP : read === AFTER_FT ? AFTER_HTTPS : 0;
  if (letter === S) return read === AFTER_HTTP ? AFTER_HTTPS : 0;
  if (letter === W) {
    if (read === AFTER_WWW) return AFTER_WWW;
    return read >= AFTER_W && read < AFTER_WWW ? read + 1 : AFTER_W;
  }
  if (letter === F) return AFTER_F;
  return letter === H ? 1 : 0;
}

/**
 * The characters that may precede an address without a scheme: any punctuation may end an element,
 * after which a text starts.
 */
function isBoundary(before: number): boolean {
  return before !== COLON && before !== SLASH && !isAlphanumeric(before);
}

function isPunctuation(code: number): boolean {
  return code > 0x20 && code < 0x7f && !isAlphanumeric(code);
}
