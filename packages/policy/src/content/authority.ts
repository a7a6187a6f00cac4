const codeOf = (character: string): number => character.charCodeAt(0);
const ENDS: ReadonlySet<number> = new Set(Array.from("/?# \t\n\r)>\"'<|]", codeOf));
const AT = codeOf("@");
const AMPERSAND = codeOf("&");
const [H, T, P, S] = ["h", "t", "p", "s"].map(codeOf);
const COLON = codeOf(":");
const SLASH = codeOf("/");
/** What stands before an address that has no scheme: of Markdown, or of an attribute. */
const BEFORE_ADDRESS: ReadonlySet<number> = new Set(Array.from("(<\"'=", codeOf));

/** How much of `https:` has been read: the letters, and all of it. */
const AFTER_HTTP = 4;
const AFTER_HTTPS = 5;
const AFTER_COLON = 6;
/** The first slash of an address that has no scheme. */
const AFTER_SLASH = 7;

/**
 * Finds web addresses with something before the host (`https://bank.example@evil.example/`), also where the
 * sign is written as an entity or behind a backslash, which a Markdown renderer turns back. A browser takes any
 * number of slashes, and a link has none of its own scheme (`[a](//bank.example@evil.example)`).
 */
export class UserBeforeHost {
  #read = 0;
  #before = 0;
  #isInside = false;

  /** Whether such an address is certain with this code unit. */
  feed(code: number): boolean {
    const before = this.#before;
    this.#before = code;
    const read = this.#read;
    this.#read = next(read, code, before);
    if (read === AFTER_COLON) {
      this.#isInside = true;
      // However many there are.
      if (code === SLASH) {
        this.#read = AFTER_COLON;
        return false;
      }
    }
    if (!this.#isInside) return false;
    const isFound = code === AT || code === AMPERSAND;
    if (isFound || ENDS.has(code)) this.#isInside = false;
    return isFound;
  }
}

function next(read: number, code: number, before: number): number {
  if (code === SLASH) {
    if (read === AFTER_SLASH) return AFTER_COLON;
    return BEFORE_ADDRESS.has(before) ? AFTER_SLASH : 0;
  }
  if (code === COLON) return read === AFTER_HTTP || read === AFTER_HTTPS ? AFTER_COLON : 0;
  const letter = code | 0x20;
  if (letter === T) return read === 1 || read === 2 ? read + 1 : 0;
  if (letter === P) return read === 3 ? AFTER_HTTP : 0;
  if (letter === S) return read === AFTER_HTTP ? AFTER_HTTPS : 0;
  return letter === H ? 1 : 0;
}
