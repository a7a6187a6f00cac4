import type { ContentSettings } from "./settings.js";

/** What an address turned out to be. */
export type AddressKind =
  /** Leads nowhere outside, or to a host that images may come from. */
  | "own"
  /** Another host, by a scheme that links may have. */
  | "outside"
  /** Runs code in the page. */
  | "script"
  /** A scheme that opens some other program. */
  | "foreign"
  /** Written so that its beginning cannot be read. */
  | "disguised"
  /** Bytes of a picture in the address itself. */
  | "picture";

const LINK_SCHEMES: ReadonlySet<string> = new Set(["http", "https", "mailto", "tel", "sms"]);
const SCRIPT_SCHEMES: ReadonlySet<string> = new Set(["javascript", "vbscript", "livescript"]);
/** No scheme of the lists is as long, nor the name of an entity behind the beginning of one. */
const LONGEST_HEAD = 64;
const PICTURE = ["image/png", "image/jpeg", "image/gif", "image/webp"];

const ENTITY = /[\w#]/;

type Stage = "start" | "head" | "foreign" | "entity" | "slash" | "slashes" | "host" | "data";

/**
 * Reads the beginning of a Markdown address, character by character, until it is clear where it leads.
 *
 * Renderers decode entities and backslashes in addresses (`java&#115;cript:`), so either before the first
 * slash counts as a disguise.
 */
export class Destination {
  readonly #hosts: readonly string[];
  #stage: Stage = "start";
  #text = "";

  constructor({ imageHosts }: ContentSettings) {
    this.#hosts = imageHosts;
  }

  /** Takes the next character; answers once. */
  feed(character: string): AddressKind | undefined {
    const isEnd = character === ")" || character === ">" || isSpace(character);
    switch (this.#stage) {
      case "start":
        // Some renderers cut off any white space, that of other scripts too.
        if (character === "<" || character.trim() === "") return undefined;
        if (character === "/") return this.#to("slash");
        this.#stage = "head";
        return this.#head(character, isEnd);
      case "head":
        // A tab within angle brackets is dropped by browsers.
        return character === "\t" ? undefined : this.#head(character, isEnd);
      case "entity":
        if (character === ";") return "disguised";
        if (ENTITY.test(character)) return this.#add(character);
        this.#stage = "head";
        return this.#head(character, isEnd);
      case "foreign":
        return isSpace(character) ? "own" : "foreign";
      case "slash":
        if (character === "\t") return undefined;
        if (character === "/") return this.#to("host");
        return character === "\\" || character === "&" ? "disguised" : "own";
      case "slashes":
        if (character === "/")
          return this.#text === "/" ? this.#to("host") : this.#to("slashes", "/");
        return "disguised";
      case "host":
        return this.#host(character.toLowerCase(), isEnd);
      case "data":
        return this.#data(character.toLowerCase());
    }
  }

  #head(character: string, isEnd: boolean): AddressKind | undefined {
    if (isEnd || character === "/" || character === "?" || character === "#") return "own";
    if (character === "\\") return "disguised";
    if (character === "&") this.#stage = "entity";
    if (character !== ":") return this.#add(character);
    const scheme = this.#text.toLowerCase();
    if (scheme === "data") return this.#to("data");
    if (SCRIPT_SCHEMES.has(scheme)) return "script";
    // No scheme begins with a digit, and `[Int](repeating: 0)` leads nowhere: samples of code are full of it.
    if (!LINK_SCHEMES.has(scheme)) return /^\d/.test(scheme) ? "own" : this.#to("foreign");
    if (this.#hosts.length === 0 || !scheme.startsWith("http")) return "outside";
    return this.#to("slashes");
  }

  #add(character: string): AddressKind | undefined {
    this.#text += character;
    return this.#text.length > LONGEST_HEAD ? "own" : undefined;
  }

  /** Not one character more than fits a host of the list is let through. */
  #host(character: string, isEnd: boolean): AddressKind | undefined {
    const isOver = isEnd || character === "/" || character === "?" || character === "#";
    if (isOver) return this.#hosts.includes(this.#text) ? "own" : "outside";
    this.#text += character;
    return this.#hosts.some((host) => host.startsWith(this.#text)) ? undefined : "outside";
  }

  #data(character: string): AddressKind | undefined {
    this.#text += character;
    if (PICTURE.some((type) => `${type};` === this.#text || `${type},` === this.#text)) {
      return "picture";
    }
    return PICTURE.some((type) => `${type};`.startsWith(this.#text)) ? undefined : "script";
  }

  #to(stage: Stage, text = ""): undefined {
    this.#stage = stage;
    this.#text = text;
    return undefined;
  }
}

function isSpace(character: string): boolean {
  return character === " " || character === "\n" || character === "\t" || character === "\r";
}
