const codeOf = (character: string): number => character.charCodeAt(0);
const ENDS: ReadonlySet<number> = new Set(Array.from("/?#\\ \t\n\r)>\"'`<|]", codeOf));
const AT = codeOf("@");
const AMPERSAND = codeOf("&");
const [H, T, P, S] = ["h", "t", "p", "s"].map(codeOf);
const COLON = codeOf(":");
const SLASH = codeOf("/");

/** How much of `https://` has been read: the letters, the colon, the first slash, and all of it. */
const AFTER_HTTP = 4;
const AFTER_HTTPS = 5;
const AFTER_COLON = 6;
const AFTER_SLASH = 7;
const INSIDE = 8;

/**
 * Finds web addresses with something before the host (`https://bank.example@evil.example/`), also where the
 * sign is written as an entity, which a Markdown renderer turns back.
 */
export class UserBeforeHost {
  #read = 0;

  /** Whether such an address is certain with this code unit. */
  feed(code: number): boolean {
    if (this.#read !== INSIDE) {
      this.#read = next(this.#read, code);
      return false;
    }
    const isFound = code === AT || code === AMPERSAND;
    if (isFound || ENDS.has(code)) this.#read = 0;
    return isFound;
  }
}

function next(read: number, code: number): number {
  if (code === SLASH) return read === AFTER_COLON || read === AFTER_SLASH ? read + 1 : 0;
  if (code === COLON) return read === AFTER_HTTP || read === AFTER_HTTPS ? AFTER_COLON : 0;
  const letter = code | 0x20;
  if (letter === T) return read === 1 || read === 2 ? read + 1 : 0;
  if (letter === P) return read === 3 ? AFTER_HTTP : 0;
  if (letter === S) return read === AFTER_HTTP ? AFTER_HTTPS : 0;
  return letter === H ? 1 : 0;
}
