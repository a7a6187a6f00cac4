import { Destination } from "./destination.js";
import type { AddressKind, AddressPlace } from "./destination.js";
import type { ContentKind } from "./finding.js";
import type { ContentSettings } from "./settings.js";

/**
 * Maximum number of remembered brackets; deeper ones are not distinguished, which only makes more
 * of them images.
 */
const DEEPEST = 64;

const codeOf = (character: string): number => character.charCodeAt(0);
const LINE_FEED = codeOf("\n");
const CARRIAGE_RETURN = codeOf("\r");
const SPACE = codeOf(" ");
const TAB = codeOf("\t");
const NO_BREAK_SPACE = 0xa0;
const TICK = codeOf("`");
const EXCLAMATION = codeOf("!");
const PARENTHESIS = codeOf("(");
const COLON = codeOf(":");
const LESS = codeOf("<");
const OPEN = codeOf("[");
const BACKSLASH = codeOf("\\");
const CLOSE = codeOf("]");
const CARET = codeOf("^");

type Use = "image" | "link" | "definition" | "autolink" | "loose image" | "loose link";
const PLACES: Readonly<Record<Use, AddressPlace>> = {
  image: "inline",
  link: "inline",
  definition: "definition",
  autolink: "autolink",
  "loose image": "inline",
  "loose link": "inline",
};
type Outside = { readonly brackets: readonly boolean[]; readonly images: number };
const NOTHING_OPEN: Outside = { brackets: [], images: 0 };
type Reading = { readonly use: Use; readonly reader: Destination };

/** Prose contains `<xs:element>` and `list[0] (type: x)`: there unknown schemes are ignored. */
const BAD_LINKS: Readonly<Record<Exclude<Use, "image" | "loose image">, ReadonlySet<AddressKind>>> =
  {
    link: new Set(["script", "program", "foreign", "disguised", "user"]),
    definition: new Set(["script", "program", "foreign", "disguised", "user"]),
    autolink: new Set(["script", "program", "user"]),
    "loose link": new Set(["script", "user"]),
  };

/**
 * Finds Markdown images of other hosts, inline and by reference, and links that run code. A
 * renderer loads an image without a click, so its address can exfiltrate data. The start of an
 * address is withheld with the rest: it is found before its host is sent.
 */
export class Addresses {
  readonly #settings: ContentSettings;
  /** Open brackets of the paragraph; `true` opened an image. */
  #brackets: boolean[] = [];
  /** Images of the paragraph without an address so far. */
  #openImages = 0;
  /**
   * The open images contain nothing that could hide a bracket from a renderer, and show it to us.
   */
  #isPlain = true;
  #sawImage = false;
  #sawOutsideDefinition = false;
  #before = 0;
  #isEscaped = false;
  #lineIsBlank = true;
  /** Only white space since a bracket was closed, or a bracket was closed by an escaped one. */
  #isLooselyClosed = false;
  #closedImage = false;
  /** A label of a footnote (`[^1]`) was written. */
  #sawFootnoteLabel = false;
  /** A footnote may have begun: markdown-to-jsx reads the lines behind it as one paragraph, empty lines too. */
  #isInFootnote = false;
  #destination: Reading | undefined;
  #autolink: Reading | undefined;
  /** The open brackets before code within a line started. */
  #outside: Outside | undefined;

  constructor(settings: ContentSettings) {
    this.#settings = settings;
  }

  /** The finding that is certain with this code unit. */
  feed(code: number): ContentKind | undefined {
    const before = this.#before;
    this.#before = code;
    if (code === LINE_FEED) this.#endLine();
    else if (code !== SPACE && code !== CARRIAGE_RETURN) this.#lineIsBlank = false;
    const found =
      this.#destination === undefined && this.#autolink === undefined
        ? undefined
        : this.#readBoth(String.fromCharCode(code));
    if (found !== undefined) return found;
    const isLooselyClosed = this.#isLooselyClosed;
    this.#isLooselyClosed = isWide(code) && (isLooselyClosed || before === CLOSE);
    if (this.#isEscaped) {
      this.#isEscaped = false;
      this.#isLooselyClosed = code === CLOSE;
      this.#before = 0;
      return undefined;
    }
    switch (code) {
      case BACKSLASH:
        this.#isEscaped = true;
        return undefined;
      case OPEN:
        return this.#open(before === EXCLAMATION);
      case CLOSE:
        this.#closedImage = this.#brackets.pop() ?? false;
        return undefined;
      case PARENTHESIS:
        if (before === CLOSE) this.#begin(this.#openImages > 0 ? "image" : "link");
        else if (isLooselyClosed && this.#destination === undefined) this.#beginLoose();
        return undefined;
      case COLON:
        if (before === CLOSE) {
          this.#begin("definition");
          this.#isInFootnote ||= this.#sawFootnoteLabel;
        }
        return undefined;
      case CARET:
        if (before === OPEN) this.#sawFootnoteLabel = true;
        return undefined;
      case TICK:
        this.#isPlain = false;
        return undefined;
      case LESS:
        this.#isPlain = false;
        // In addition to any other address: an earlier start may not be one.
        this.#autolink = this.#reading("autolink");
        return undefined;
      default:
        return undefined;
    }
  }

  /** Nothing is open that the next character could affect, except a few characters. */
  get isResting(): boolean {
    return (
      this.#destination === undefined &&
      this.#autolink === undefined &&
      !this.#isEscaped &&
      !this.#isLooselyClosed
    );
  }

  /** Code within a line starts. */
  openSpan(): void {
    const isOpen = this.#brackets.length > 0 || this.#openImages > 0;
    this.#outside = isOpen
      ? { brackets: this.#brackets.slice(), images: this.#openImages }
      : NOTHING_OPEN;
  }

  /** The text since {@link Addresses.openSpan} was code, and opened nothing; whether it would matter as text. */
  closeSpan(): boolean {
    if (this.#outside === undefined) return false;
    const matters = this.#openImages > this.#outside.images;
    this.#brackets = [...this.#outside.brackets];
    this.#openImages = this.#outside.images;
    this.#destination = this.#autolink = this.#outside = undefined;
    return matters;
  }

  #open(isImage: boolean): ContentKind | undefined {
    if (this.#brackets.length < DEEPEST) this.#brackets.push(isImage);
    if (!isImage) return undefined;
    if (this.#openImages === 0) this.#isPlain = true;
    this.#openImages += 1;
    this.#sawImage = true;
    return this.#sawOutsideDefinition && this.#settings.images ? "images" : undefined;
  }

  /**
   * An image has its address, unless its apparent end is in code, in an address or in a title (`![a
   * `](/x)` b](https://…)`): then everything counts as an image to the end of the paragraph.
   */
  #begin(use: Use): void {
    if (use === "image") {
      const isClosed = this.#closedImage || this.#brackets.length === 0;
      if (isClosed && this.#isPlain) this.#openImages -= 1;
      if (this.#openImages > 0) this.#isPlain = false;
    }
    this.#destination = this.#reading(use);
  }

  /**
   * `![a] (//host)` is an image to showdown, and `![a\](//host)` to markdown-to-jsx. To all others
   * it is text: the image stays open.
   */
  #beginLoose(): void {
    this.#destination = this.#reading(this.#openImages > 0 ? "loose image" : "loose link");
  }

  #reading(use: Use): Reading {
    return { use, reader: new Destination(this.#settings, PLACES[use]) };
  }

  #readBoth(character: string): ContentKind | undefined {
    const inline = this.#read(this.#destination, character);
    const auto = this.#read(this.#autolink, character);
    if (this.#destination?.reader.isOver === true) this.#destination = undefined;
    if (this.#autolink?.reader.isOver === true) this.#autolink = undefined;
    return inline ?? auto;
  }

  #read(reading: Reading | undefined, character: string): ContentKind | undefined {
    const kind = reading?.reader.feed(character);
    return reading === undefined || kind === undefined ? undefined : this.#judge(reading.use, kind);
  }

  #judge(use: Use, kind: AddressKind): ContentKind | undefined {
    if (kind === "own" || kind === "picture") return undefined;
    const { images, links } = this.#settings;
    if (use === "image") return images ? "images" : undefined;
    if (use === "loose image") return images && kind !== "foreign" ? "images" : undefined;
    if (links && BAD_LINKS[use].has(kind)) return "links";
    const isProgram = kind === "foreign" || kind === "program";
    if (use !== "definition" || isProgram) return undefined;
    this.#sawOutsideDefinition = true;
    return this.#sawImage && images ? "images" : undefined;
  }

  /** An empty line ends a paragraph and all of its brackets; for marked one with a tab does not. In a footnote open ones stay open. */
  #endLine(): void {
    if (this.#lineIsBlank) {
      if (!this.#isInFootnote) this.#brackets = [];
      if (!this.#isInFootnote || this.#isPlain) {
        this.#openImages = this.#brackets.filter((isImage) => isImage).length;
      }
    }
    this.#lineIsBlank = true;
  }
}

/** White space that showdown allows between a label and its address. */
function isWide(code: number): boolean {
  return code === SPACE || code === TAB || code === NO_BREAK_SPACE;
}
