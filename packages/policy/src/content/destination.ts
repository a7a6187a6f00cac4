import type { ContentSettings } from "./settings.js";

/** The kind of an address. */
export type AddressKind =
  /** A local address, or a host that images may come from. */
  | "own"
  /** Another host, by a scheme that links may have. */
  | "outside"
  /** Another host, with a user name before it that looks like a host. */
  | "user"
  /** Runs code in the page. */
  | "script"
  /** Starts a program of the user, or reads their files. */
  | "program"
  /** A scheme that links may not have. */
  | "foreign"
  /** Written so that its start cannot be read. */
  | "disguised"
  /** An image embedded in the address. */
  | "picture";

/** The syntax around an address, which determines its end. */
export type AddressPlace = "inline" | "definition" | "autolink" | "attribute";

const LINK_SCHEMES: ReadonlySet<string> = new Set(["http", "https", "mailto", "tel", "sms"]);
const SCRIPT_SCHEMES: ReadonlySet<string> = new Set(["javascript", "vbscript", "livescript"]);
/**
 * In addition to these: schemes with a slash after the colon, and names with a hyphen (`ms-msdt:`).
 */
const PROGRAM_SCHEMES: ReadonlySet<string> = new Set(
  (
    "about afp aim bitcoin blob callto cid ed2k facetime feed file filesystem finger ftp ftps geo gopher hcp im intent irc " +
    "ircs itms jar jnlp ldap ldaps magnet market mhtml mk mms mocha nfs nntp onenote rdp res resource rlogin rtsp " +
    "search sftp shell sip sips skype slack smb spotify ssh steam teams telnet tn3270 view-source vnc vscode webcal " +
    "wyciwyg xmpp ymsgr zoommtg"
  ).split(" "),
);
/** Longer than any listed scheme. */
const LONGEST_HEAD = 64;
/** A line feed to remarkable. */
const LINE_FEED_SYMBOL = "\u2424";
const SCHEME = /[\w+.-]/;
const NAME = /[a-z0-9]/i;
const PICTURE = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/**
 * Characters that hide a user name before the host, or that a renderer or a browser turns into `@`.
 */
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
 * Reads the start of an address, character by character, until its kind is clear.
 *
 * Renderers and browsers decode addresses differently: CommonMark decodes backslashes and
 * references that end with a semicolon; marked leaves references to the browser, which needs no
 * semicolon. No decoding is followed here: anything that one of them could turn into a part of the
 * scheme or the authority counts as disguised.
 */
export class Destination {
  readonly #hosts: readonly string[];
  readonly #place: AddressPlace;
  #stage: Stage = "start";
  #text = "";
  #isAngle: boolean;
  /**
   * A new line has started since the position of the address, with only white space and quote marks
   * so far.
   */
  #isLineStart = false;
  /** The last characters of the head are the start of a percent escape. */
  #escape: string | undefined;
  /** A letter of the head was written as a percent escape, which remarkable decodes between angle brackets. */
  #isEscaped = false;
  /** The head of an autolink goes on over lines. */
  #isBroken = false;
  /** Open parentheses within the address. */
  #depth = 0;

  constructor({ imageHosts }: ContentSettings, place: AddressPlace) {
    this.#hosts = imageHosts;
    this.#place = place;
    this.#isAngle = place === "autolink";
  }

  /** Everything relevant has been read. */
  get isOver(): boolean {
    return this.#stage === "over";
  }

  /**
   * Takes the next character; returns the kind of the address, and after `outside` possibly `user`.
   */
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
        // Browsers remove it.
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

  /** The address is complete. */
  end(): AddressKind | undefined {
    const stage = this.#stage;
    if (stage === "over" || stage === "authority") return this.#to("over");
    const isElsewhere = stage === "host" && !this.#hosts.includes(this.#text);
    return this.#answer(isElsewhere ? "outside" : stage === "data" ? "script" : "own");
  }

  #isEnd(character: string): boolean {
    if (this.#place === "attribute") return false;
    if (character === "\n" || character === "\r") return !this.#goesOnOverLines;
    if (this.#isAngle) return character === ">";
    if (character === " ") return true;
    // In the scheme it is skipped.
    if (character === "\t") return this.#stage !== "head" && this.#stage !== "slash";
    if (this.#place !== "inline") return false;
    if (character === "(") this.#depth += 1;
    if (character === ")") this.#depth -= 1;
    return this.#depth < 0;
  }

  /** markdown-to-jsx reads an autolink over lines, and browsers remove the end of a line. */
  get #goesOnOverLines(): boolean {
    return this.#place === "autolink" && (this.#stage === "head" || this.#stage === "authority");
  }

  #start(character: string): AddressKind | undefined {
    // Some renderers remove any white space, also of other scripts, and browsers remove control
    // characters.
    if (character <= " " || character.trim() === "" || character === LINE_FEED_SYMBOL) {
      if (character === "\n" || character === "\r") this.#isLineStart = true;
      return undefined;
    }
    // The quote mark at the start of each line of a quote: renderers remove it.
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
    if (character < " " && (character === "\t" || this.#place !== "inline")) {
      this.#isBroken ||= this.#place === "autolink" && character !== "\t";
      return undefined;
    }
    if (this.#escape !== undefined) return this.#escaped(this.#escape + character);
    if (character === "%") {
      this.#escape = "";
      return undefined;
    }
    if (character === "\\") return this.#answer("disguised");
    if (character === "&") {
      this.#stage = "reference";
      this.#text = "";
      return undefined;
    }
    if (character === ":") {
      return this.#isEscaped ? this.#answer("disguised") : this.#scheme(this.#text.toLowerCase());
    }
    // The text before it is the start of a path; no scheme starts with a digit.
    if (!SCHEME.test(character) || this.#text.length >= LONGEST_HEAD) return this.#answer("own");
    if (this.#text === "" && !/[a-z]/i.test(character)) return this.#answer("own");
    this.#text += character;
    return undefined;
  }

  /** `%68ttps:` has no scheme for a browser, and `https:` for a renderer that decodes it. */
  #escaped(digits: string): AddressKind | undefined {
    if (!/^[\da-f]{1,2}$/i.test(digits)) return this.#answer("own");
    this.#escape = digits;
    if (digits.length < 2) return undefined;
    this.#escape = undefined;
    this.#isEscaped = true;
    const character = String.fromCharCode(Number.parseInt(digits, 16));
    return SCHEME.test(character) ? this.#head(character) : this.#answer("own");
  }

  /**
   * `&#47`, `&sol;` and `&amp#47`: with a semicolon any name counts, without one `&amp`, after
   * which another may start.
   */
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
    // Prose has `a <b` at the end of a line.
    if (!LINK_SCHEMES.has(scheme)) {
      return this.#isBroken ? this.#answer("own") : this.#to("foreign", scheme);
    }
    if (!scheme.startsWith("http")) return this.#answer("outside");
    if (this.#hosts.length > 0) return this.#to("slashes");
    this.#to("authority");
    return "outside";
  }

  /**
   * White space that ends the address makes it harmless: code such as `[Int](repeating: 0)` has
   * many of these.
   */
  #foreign(character: string): AddressKind {
    const scheme = this.#text;
    const isProgram =
      PROGRAM_SCHEMES.has(scheme) || scheme.includes("-") || "/\\&".includes(character);
    return isProgram ? "program" : "foreign";
  }

  /** Only the characters of a listed host pass. */
  #host(character: string): AddressKind | undefined {
    // Browsers skip further slashes: what follows is the authority.
    if (character === "/" && this.#text === "") return this.#answer("disguised");
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
    // Browsers accept any number of slashes before the authority.
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
