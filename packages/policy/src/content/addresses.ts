import { Destination } from "./destination.js";
import type { AddressKind, AddressPlace } from "./destination.js";
import type { ContentKind } from "./finding.js";
import type { ContentSettings } from "./settings.js";

/** Brackets remembered at once; deeper ones are no longer told apart, which only makes more of them images. */
const DEEPEST = 64;

const codeOf = (character: string): number => character.charCodeAt(0);
const LINE_FEED = codeOf("\n");
const CARRIAGE_RETURN = codeOf("\r");
const SPACE = codeOf(" ");
const TICK = codeOf("`");
const EXCLAMATION = codeOf("!");
const PARENTHESIS = codeOf("(");
const COLON = codeOf(":");
const LESS = codeOf("<");
const OPEN = codeOf("[");
const BACKSLASH = codeOf("\\");
const CLOSE = codeOf("]");

type Use = "image" | "link" | "definition" | "autolink";
const PLACES: Readonly<Record<Use, AddressPlace>> = {
  image: "inline",
  link: "inline",
  definition: "definition",
  autolink: "autolink",
};
type Outside = { readonly brackets: readonly boolean[]; readonly images: number };
const NOTHING_OPEN: Outside = { brackets: [], images: 0 };
type Reading = { readonly use: Use; readonly reader: Destination };

/** Prose has `<xs:element>`: there schemes that nobody knows do not count. */
const BAD_LINKS: Readonly<Record<Exclude<Use, "image">, ReadonlySet<AddressKind>>> = {
  link: new Set(["script", "program", "foreign", "disguised", "user"]),
  definition: new Set(["script", "program", "foreign", "disguised", "user"]),
  autolink: new Set(["script", "program", "user"]),
};

/**
 * Finds Markdown images of other hosts, inline and by reference, and links that run code.
 *
 * A renderer loads an image without being asked, so its address carries data away. The beginning of an address
 * is withheld with the rest: what is found is found before its host is out.
 */
export class Addresses {
  readonly #settings: ContentSettings;
  /** Open brackets of the paragraph; `true` opened an image. */
  #brackets: boolean[] = [];
  /** Images of the paragraph that have no address yet. */
  #openImages = 0;
  /** Nothing stands in the open images that could hide a bracket from a renderer, and show it to us. */
  #isPlain = true;
  #sawImage = false;
  #sawOutsideDefinition = false;
  #before = 0;
  #isEscaped = false;
  #lineIsBlank = true;
  #closedImage = false;
  #destination: Reading | undefined;
  #autolink: Reading | undefined;
  /** What was open where code within a line began. */
  #outside: Outside | undefined;

  constructor(settings: ContentSettings) {
    this.#settings = settings;
  }

  /** What is certain with this code unit. */
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
    if (this.#isEscaped) {
      this.#isEscaped = false;
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
        return undefined;
      case COLON:
        if (before === CLOSE) this.#begin("definition");
        return undefined;
      case TICK:
        this.#isPlain = false;
        return undefined;
      case LESS:
        this.#isPlain = false;
        // Beside any other address: what was begun before may not be one.
        this.#autolink = this.#reading("autolink");
        return undefined;
      default:
        return undefined;
    }
  }

  /** Nothing is open that the next character could matter to, unless it is one of few. */
  get isResting(): boolean {
    return this.#destination === undefined && this.#autolink === undefined && !this.#isEscaped;
  }

  /** Code within a line begins. */
  openSpan(): void {
    const isOpen = this.#brackets.length > 0 || this.#openImages > 0;
    this.#outside = isOpen
      ? { brackets: this.#brackets.slice(), images: this.#openImages }
      : NOTHING_OPEN;
  }

  /** What was read since {@link Addresses.openSpan} was code, and opened nothing. */
  closeSpan(): void {
    if (this.#outside === undefined) return;
    this.#brackets = [...this.#outside.brackets];
    this.#openImages = this.#outside.images;
    this.#destination = this.#autolink = this.#outside = undefined;
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
   * An image has its address, unless what looked like its end stands in code, in an address or in a title
   * (`![a `](/x)` b](https://…)`): then everything counts as an image to the end of the paragraph.
   */
  #begin(use: Use): void {
    if (use === "image") {
      const isClosed = this.#closedImage || this.#brackets.length === 0;
      if (isClosed && this.#isPlain) this.#openImages -= 1;
      if (this.#openImages > 0) this.#isPlain = false;
    }
    this.#destination = this.#reading(use);
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
    if (links && BAD_LINKS[use].has(kind)) return "links";
    const isProgram = kind === "foreign" || kind === "program";
    if (use !== "definition" || isProgram) return undefined;
    this.#sawOutsideDefinition = true;
    return this.#sawImage && images ? "images" : undefined;
  }

  /** An empty line ends a paragraph, and with it every bracket; one with a tab does not, to marked. */
  #endLine(): void {
    if (this.#lineIsBlank) {
      this.#brackets = [];
      this.#openImages = 0;
    }
    this.#lineIsBlank = true;
  }
}
