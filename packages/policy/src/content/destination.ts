import type { ContentSettings } from "./settings.js";

/** What an address turned out to be. */
export type AddressKind =
  /** Leads nowhere outside, or to a host that images may come from. */
  | "own"
  /** Another host, by a scheme that links may have. */
  | "outside"
  /** Another host, with a name before it that looks like one. */
  | "user"
  /** Runs code in the page. */
  | "script"
  /** Starts a program of the person's own, or reads their files. */
  | "program"
  /** A scheme that links may not have. */
  | "foreign"
  /** Written so that its beginning cannot be read. */
  | "disguised"
  /** Bytes of a picture in the address itself. */
  | "picture";

/** Where an address stands, which decides where it ends. */
export type AddressPlace = "inline" | "definition" | "autolink" | "attribute";

const LINK_SCHEMES: ReadonlySet<string> = new Set(["http", "https", "mailto", "tel", "sms"]);
const SCRIPT_SCHEMES: ReadonlySet<string> = new Set(["javascript", "vbscript", "livescript"]);
/** Beside these, what has a slash behind its colon, and names with a hyphen (`ms-msdt:`). */
const PROGRAM_SCHEMES: ReadonlySet<string> = new Set(
  (
    "about afp aim bitcoin blob callto cid ed2k facetime feed file filesystem finger ftp ftps geo gopher hcp im intent irc " +
    "ircs itms jar jnlp ldap ldaps magnet market mhtml mk mms mocha nfs nntp onenote rdp res resource rlogin rtsp " +
    "search sftp shell sip sips skype slack smb spotify ssh steam teams telnet tn3270 view-source vnc vscode webcal " +
    "wyciwyg xmpp ymsgr zoommtg"
  ).split(" "),
);
/** No scheme of the lists is as long. */
const LONGEST_HEAD = 64;
const SCHEME = /[\w+.-]/;
const NAME = /[a-z0-9]/i;
const PICTURE = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/** What hides a name before the host, or is turned into `@` by a renderer or a browser. */
const BEFORE_HOST = "@&\\";

type Stage =
  | "start"
  | "head"
  | "reference"
  | "foreign"
  | "slash"
  | "slashes"
  | "host"
  | "data"
  | "authority"
  | "over";

/**
 * Reads the beginning of an address, character by character, until it is clear where it leads.
 *
 * Renderers and browsers decode addresses in their own ways: CommonMark decodes backslashes and references that end
 * with a semicolon, marked leaves references to the browser, which needs no semicolon. No way is followed here:
 * whatever one of them could turn into a part of the scheme or the authority counts as a disguise.
 */
export class Destination {
  readonly #hosts: readonly string[];
  readonly #place: AddressPlace;
  #stage: Stage = "start";
  #text = "";
  #isAngle: boolean;
  /** A line has begun since the place of the address, and only white space and marks of quotes stand on it. */
  #isLineStart = false;
  /** Parentheses that are open within the address. */
  #depth = 0;

  constructor({ imageHosts }: ContentSettings, place: AddressPlace) {
    this.#hosts = imageHosts;
    this.#place = place;
    this.#isAngle = place === "autolink";
  }

  /** Everything that matters has been read. */
  get isOver(): boolean {
    return this.#stage === "over";
  }

  /** Takes the next character; answers where the address leads, and behind `outside` perhaps `user`. */
  feed(character: string): AddressKind | undefined {
    if (this.#stage === "start") return this.#start(character);
    if (this.#isEnd(character)) return this.end();
    switch (this.#stage) {
      case "head":
        return this.#head(character);
      case "reference":
        return this.#reference(character);
      case "foreign":
        return this.#answer(this.#foreign(character));
      case "slash":
        // Browsers drop it.
        if (character === "\t") return undefined;
        if (character === "/") return this.#to("host");
        return this.#answer(BEFORE_HOST.includes(character) ? "disguised" : "own");
      case "slashes":
        if (character !== "/") return this.#answer("disguised");
        return this.#text === "/" ? this.#to("host") : this.#to("slashes", "/");
      case "host":
        return this.#host(character.toLowerCase());
      case "data":
        return this.#data(character.toLowerCase());
      case "authority":
        return this.#authority(character);
      case "over":
        return undefined;
    }
  }

  /** The address is whole. */
  end(): AddressKind | undefined {
    const stage = this.#stage;
    if (stage === "over" || stage === "authority") return this.#to("over");
    const isElsewhere = stage === "host" && !this.#hosts.includes(this.#text);
    return this.#answer(isElsewhere ? "outside" : stage === "data" ? "script" : "own");
  }

  #isEnd(character: string): boolean {
    if (this.#place === "attribute") return false;
    if (character === "\n" || character === "\r") return true;
    if (this.#isAngle) return character === ">";
    if (character === " ") return true;
    // In the scheme it is skipped.
    if (character === "\t") return this.#stage !== "head" && this.#stage !== "slash";
    if (this.#place !== "inline") return false;
    if (character === "(") this.#depth += 1;
    if (character === ")") this.#depth -= 1;
    return this.#depth < 0;
  }

  #start(character: string): AddressKind | undefined {
    // Some renderers cut off any white space, that of other scripts too, and browsers control characters.
    if (character <= " " || character.trim() === "") {
      if (character === "\n" || character === "\r") this.#isLineStart = true;
      return undefined;
    }
    // The mark of a quote, which every line of it has: renderers take it away.
    if (character === ">" && this.#isLineStart) return undefined;
    if (character === "<" && this.#place !== "attribute") {
      this.#isAngle = true;
      return undefined;
    }
    if (this.#isEnd(character)) return this.#answer("own");
    if (character === "/") return this.#to("slash");
    this.#stage = "head";
    return this.#head(character);
  }

  #head(character: string): AddressKind | undefined {
    if (character === "\t" || (character < " " && this.#place === "attribute")) return undefined;
    if (character === "\\") return this.#answer("disguised");
    if (character === "&") {
      this.#stage = "reference";
      this.#text = "";
      return undefined;
    }
    if (character === ":") return this.#scheme(this.#text.toLowerCase());
    // What stands before it is the beginning of a path; no scheme begins with a digit.
    if (!SCHEME.test(character) || this.#text.length >= LONGEST_HEAD) return this.#answer("own");
    if (this.#text === "" && !/[a-z]/i.test(character)) return this.#answer("own");
    this.#text += character;
    return undefined;
  }

  /** `&#47`, `&sol;` and `&amp#47`: with a semicolon any name counts, without one `&amp`, behind which another may begin. */
  #reference(character: string): AddressKind | undefined {
    if (character === "#" || character === ";") return this.#answer("disguised");
    if (!NAME.test(character)) return this.#answer(character === "&" ? "disguised" : "own");
    this.#text += character.toLowerCase();
    const isOther = this.#text.length > LONGEST_HEAD;
    return this.#text === "amp"
      ? this.#answer("disguised")
      : isOther
        ? this.#answer("own")
        : undefined;
  }

  #scheme(scheme: string): AddressKind | undefined {
    if (scheme === "data") return this.#to("data");
    if (SCRIPT_SCHEMES.has(scheme)) return this.#answer("script");
    if (!LINK_SCHEMES.has(scheme)) return this.#to("foreign", scheme);
    if (!scheme.startsWith("http")) return this.#answer("outside");
    if (this.#hosts.length > 0) return this.#to("slashes");
    this.#to("authority");
    return "outside";
  }

  /** Where white space ends the address it leads nowhere: `[Int](repeating: 0)`, samples of code are full of it. */
  #foreign(character: string): AddressKind {
    const scheme = this.#text;
    const isProgram =
      PROGRAM_SCHEMES.has(scheme) || scheme.includes("-") || "/\\&".includes(character);
    return isProgram ? "program" : "foreign";
  }

  /** Not one character more than fits a host of the list is let through. */
  #host(character: string): AddressKind | undefined {
    if (character === "/" || character === "?" || character === "#") {
      return this.#answer(this.#hosts.includes(this.#text) ? "own" : "outside");
    }
    if (BEFORE_HOST.includes(character)) return this.#answer("user");
    this.#text += character;
    if (this.#hosts.some((host) => host.startsWith(this.#text))) return undefined;
    this.#to("authority");
    return "outside";
  }

  #authority(character: string): AddressKind | undefined {
    if (BEFORE_HOST.includes(character)) return this.#answer("user");
    // Browsers take any number of slashes before the authority.
    if (character === "/") return this.#text === "" ? undefined : this.#to("over");
    if (character === "?" || character === "#") return this.#to("over");
    this.#text = character;
    return undefined;
  }

  #data(character: string): AddressKind | undefined {
    this.#text += character;
    if (PICTURE.some((type) => `${type};` === this.#text || `${type},` === this.#text)) {
      return this.#answer("picture");
    }
    const isOpen = PICTURE.some((type) => `${type};`.startsWith(this.#text));
    return isOpen ? undefined : this.#answer("script");
  }

  #to(stage: Stage, text = ""): undefined {
    this.#stage = stage;
    this.#text = text;
    return undefined;
  }

  #answer(kind: AddressKind): AddressKind {
    this.#stage = "over";
    return kind;
  }
}
