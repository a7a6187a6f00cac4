import {
  ACTIVE_ELEMENTS,
  FOREIGN_ELEMENTS,
  kindOfAttribute,
  LINK_ELEMENTS,
  LOADING_ELEMENTS,
  LONGEST_ATTRIBUTE,
  OVERRIDE_ELEMENT,
  TEXT_ELEMENTS,
  UNESCAPED_ELEMENTS,
} from "./attributes.js";
import { isAlphanumeric, isForeignSpace, isLetter, isSpace } from "./characters.js";
import { Destination } from "./destination.js";
import type { AddressKind } from "./destination.js";
import type { ContentSettings } from "./settings.js";
import { StyleValue } from "./style-value.js";

const LONGEST_NAME = 24;
const GLUED_CLASS = /.class(?:name)?$/;
/**
 * Characters of a tag behind an element that changes the appearance of text: room for a tag without attributes. A tag that is never
 * closed is text with that appearance, and a longer one could be a sentence.
 */
const LONGEST_TAG = 20;

/** Not an element: a tag that nothing closes. */
const TORN = "<";

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const LESS = 0x3c;
const GREATER = 0x3e;
const EQUALS = 0x3d;
const SLASH = 0x2f;
const DOUBLE_QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;
const TICK = 0x60;
const COLON = 0x3a;
const UNDERSCORE = 0x5f;
const DASH = 0x2d;
const DOT = 0x2e;
const HASH = 0x23;

type Place =
  | "text"
  | "open"
  | "name"
  | "closing"
  | "attributes"
  | "attribute"
  | "before-value"
  | "value";

/**
 * Finds HTML with an effect: an element that runs, loads or sends, and text in an element with
 * attributes that change its appearance.
 *
 * In open code within a line a tag counts once it is complete, as CommonMark defines it, and only
 * if it has an effect by itself: before that it is text. Elsewhere it counts at once, before its
 * address is sent.
 */
export class Markup {
  readonly #settings: ContentSettings;
  #place: Place = "text";
  #name = "";
  #attribute = "";
  /** The quotation mark of the open value. */
  #quote = 0;
  #address: Destination | undefined;
  #style: StyleValue | undefined;
  /** The open tag runs, loads or sends something. */
  #isActive = false;
  #changesAppearance = false;
  /** The open tag may be part of one that started before it. */
  #isTorn = false;
  #isTornActive = false;
  #isTornText = false;
  /**
   * The open tag contains white space that only renderers treat as such: their output is not a
   * CommonMark tag.
   */
  #isLoose = false;
  /** Such white space separates two parts of the open tag, so that renderers may read other attributes. */
  #isSplit = false;
  /** Text from here on has the appearance that an element sets. */
  #isPending = false;
  /** The open script or style: everything from here on is its text. */
  #running = "";
  #isForeign = false;
  /**
   * An element started in which marked does not escape text. Where marked sees its end depends on
   * everything between, so that only plain text leads back.
   */
  #isUnescaped = false;
  /** The state before the tag that started it, if only plain text followed. */
  #beforePlain: boolean | undefined;
  /** The text contains a tag that CommonMark does not know. */
  #sawBroken = false;
  #isAfterQuote = false;
  /** In the open tag, the line has only white space and quote marks so far. */
  #isLineStart = false;
  /** Characters of a tag that started where text counts. */
  #length = 0;
  #isInSpan = false;
  /** Both values before the open code. */
  #wasForeign = false;
  #wasUnescaped = false;

  constructor(settings: ContentSettings) {
    this.#settings = settings;
  }

  /** A tag is open. */
  get isInTag(): boolean {
    return this.#place !== "text";
  }

  /** Only a `<` would change the state. */
  get isResting(): boolean {
    return this.#place === "text" && !this.#countsText && this.#beforePlain === undefined;
  }

  get #countsText(): boolean {
    return this.#isPending || this.#running !== "";
  }

  /**
   * A block of code ends everything that was open; returns whether it is text in a relevant
   * element.
   */
  skipCode(code: number): boolean {
    this.#beforePlain = undefined;
    this.#leave("text");
    return this.#countsText && !isSpace(code);
  }

  /** Code within a line starts. */
  openSpan(): void {
    this.#beforePlain = undefined;
    this.#wasForeign = this.#isForeign;
    this.#wasUnescaped = this.#isUnescaped;
  }

  /** The text since {@link Markup.openSpan} was code; whether it would matter as text. */
  closeSpan(): boolean {
    const isChanged =
      this.#isForeign !== this.#wasForeign || this.#isUnescaped !== this.#wasUnescaped;
    const matters = isChanged || this.#countsText || this.isInTag;
    this.#leave("text");
    this.#isPending = false;
    this.#running = "";
    this.#isForeign = this.#wasForeign;
    this.#isUnescaped = this.#wasUnescaped;
    return matters;
  }

  /** A paragraph ended, and an incomplete tag was text. */
  endParagraph(): boolean {
    this.#beforePlain = undefined;
    const wasText = this.#place !== "text";
    if (wasText) this.#sawBroken = true;
    this.#leave("text");
    return wasText && this.#countsText;
  }

  /**
   * Whether active markup is certain with this code unit. `isBlock`: this may be a block of HTML.
   * `isInSpan`: this is code, if it is closed later. `isAfterQuote`: a quote has started before.
   */
  feed(code: number, isBlock: boolean, isInSpan: boolean, isAfterQuote: boolean): boolean {
    this.#isAfterQuote = isAfterQuote;
    this.#isInSpan = isInSpan;
    const isRaw = isBlock || this.#isUnescaped;
    if (this.#place === "text") {
      if (code !== LESS) {
        if (!isPlain(code)) this.#beforePlain = undefined;
        return this.#countsText && !isSpace(code);
      }
      this.#place = "open";
      this.#length = 0;
      this.#isLineStart = false;
      return false;
    }
    this.#length += 1;
    const isTooLong = this.#isPending && this.#length > LONGEST_TAG;
    const isMark = this.#isLineStart && code === GREATER && this.#place !== "closing";
    this.#isLineStart = isMark || isLineEnd(code) || (this.#isLineStart && isSpace(code));
    const isFound = isMark ? this.#feedMark() : this.#feedTag(code, isRaw);
    if (isFound || isTooLong || !isLineEnd(code)) return isFound || isTooLong;
    return (isRaw && this.#endRawLine()) || (isAfterQuote && this.#endQuotedLine());
  }

  /**
   * A line of raw HTML ends in a tag. The block of HTML may end here, and the tag goes on in the
   * browser through what renderers write next: `<p><a href="` closes a quotation, and makes
   * attributes of the address of a link.
   */
  #endRawLine(): boolean {
    if (this.#place === "text" || this.#place === "closing") return false;
    return (this.#place === "value" && this.#quote !== 0) || this.#changesAppearance;
  }

  /**
   * A line of a quote ends in a tag. If the next line has no quote mark, marked 15 starts a
   * paragraph there, and the `>` of its own tag ends the open one.
   */
  #endQuotedLine(): boolean {
    return this.#place !== "text" && this.#place !== "closing" && this.#applyTag();
  }

  /**
   * A `>` at the start of a line is a quote mark, which renderers remove, or the end of the tag: it
   * counts as the end, and the tag continues after it.
   */
  #feedMark(): boolean {
    return this.#place === "value" ? false : this.#applyTag();
  }

  #feedTag(code: number, isRaw: boolean): boolean {
    const isQuoted = this.#place === "value" && this.#quote !== 0;
    if (isForeignSpace(code)) this.#isLoose = true;
    if (isForeignSpace(code) && !isQuoted) this.#split();
    if (code === EQUALS && this.#isSplit && !isQuoted) {
      this.#isActive = true;
      if (isRaw || !this.#isInSpan) return true;
    }
    switch (this.#place) {
      case "text":
        return false;
      case "open":
        return this.#feedFirst(code, isRaw);
      case "name":
        return this.#feedName(code, isRaw);
      case "closing":
        return this.#feedClosing(code, isRaw);
      case "attributes":
        return this.#feedAttributes(code, isRaw);
      case "attribute":
        return this.#feedAttribute(code, isRaw);
      case "before-value":
        return this.#feedBeforeValue(code, isRaw);
      case "value":
        return this.#feedValue(code, isRaw);
    }
  }

  /** remarkable writes a space for it: what follows are attributes, of the element so far. */
  #split(): void {
    if (this.#place === "open" || this.#place === "closing") return;
    this.#isSplit = true;
    if (this.#name === "dialog") this.#changesAppearance = true;
  }

  #feedFirst(code: number, isRaw: boolean): boolean {
    if (this.#isTorn && !isLetter(code)) {
      this.#place = "attributes";
      return this.#feedAttributes(code, isRaw);
    }
    if (code === SLASH) {
      this.#place = "closing";
      this.#name = "";
      return false;
    }
    this.#beforePlain = undefined;
    if (this.#running !== "" || !isLetter(code)) return this.#abandon(code);
    this.#place = "name";
    this.#name = String.fromCharCode(code | 0x20);
    if (!this.#isTorn) this.#isActive = this.#changesAppearance = false;
    return false;
  }

  #feedName(code: number, isRaw: boolean): boolean {
    const wasUnescaped = this.#isUnescaped;
    if (UNESCAPED_ELEMENTS.has(this.#name) && !isNameCharacter(code)) {
      this.#isUnescaped = true;
      if (code === GREATER) this.#beforePlain = wasUnescaped;
      // marked reads the content of a quote more than once, and then the text before this tag is
      // not escaped.
      if (this.#sawBroken && this.#isAfterQuote) return true;
    }
    if (code === GREATER) return this.#endTag();
    if (isSpace(code) || (code === SLASH && !this.#name.endsWith(":"))) {
      this.#place = "attributes";
      this.#attribute = "";
      // A renderer would turn addresses there into attributes.
      return wasUnescaped;
    }
    if (code === LESS) return this.#tear(isRaw);
    // markdown-to-jsx needs no white space: `<bclass=x>` is a `b` with a class.
    const isGlued = code === EQUALS && GLUED_CLASS.test(this.#name);
    if (isGlued && (isRaw || !this.#isInSpan)) return true;
    if (!isNameCharacter(code) && this.#isInvalid(isRaw)) return this.#abandon(code);
    // rehype-raw reads them as a class and an id.
    if (code === DOT || code === HASH) this.#changesAppearance = true;
    if (this.#name.length <= LONGEST_NAME && !this.#isSplit) {
      this.#name += String.fromCharCode(code).toLowerCase();
    }
    return !this.#isInSpan && (TEXT_ELEMENTS.has(this.#name) || FOREIGN_ELEMENTS.has(this.#name));
  }

  #feedClosing(code: number, isRaw: boolean): boolean {
    if (code === GREATER && this.#name !== "") return this.#endClosing();
    if (code === LESS) return this.#abandon(code);
    if (isLetter(code) || (this.#name !== "" && (isAlphanumeric(code) || code === DASH))) {
      if (this.#name.length <= LONGEST_NAME) this.#name += String.fromCharCode(code | 0x20);
      return false;
    }
    this.#beforePlain = undefined;
    if (this.#name !== "" && (isSpace(code) || (isRaw && this.#running === ""))) return false;
    return this.#abandon(code);
  }

  #endClosing(): boolean {
    if (this.#running !== "" && this.#running !== this.#name) return true;
    this.#leave("text");
    this.#running = "";
    // markdown-to-jsx opens an element with an end tag at the start of a line, without its attributes.
    if (this.#name === OVERRIDE_ELEMENT) this.#isPending = true;
    if (this.#beforePlain !== undefined && UNESCAPED_ELEMENTS.has(this.#name)) {
      this.#isUnescaped = this.#beforePlain;
    }
    this.#beforePlain = undefined;
    return false;
  }

  #feedAttributes(code: number, isRaw: boolean): boolean {
    if (isSpace(code) || code === SLASH) return false;
    if (code === GREATER) return this.#endTag();
    if (code === LESS) return this.#tear(isRaw);
    if (code === EQUALS && this.#attribute !== "") return this.#beginValue(isRaw);
    const isFirst = isLetter(code) || code === UNDERSCORE || code === COLON;
    if (!isFirst && this.#isInvalid(isRaw)) return this.#abandon(code);
    this.#place = "attribute";
    this.#attribute = String.fromCharCode(code).toLowerCase();
    return false;
  }

  #feedAttribute(code: number, isRaw: boolean): boolean {
    if (isSpace(code) || code === SLASH) {
      this.#noteBare();
      this.#place = "attributes";
      return false;
    }
    if (code === GREATER) {
      this.#noteBare();
      return this.#endTag();
    }
    if (code === LESS) return this.#tear(isRaw);
    if (code === EQUALS) return this.#beginValue(isRaw);
    const isName =
      isAlphanumeric(code) ||
      code === UNDERSCORE ||
      code === DOT ||
      code === COLON ||
      code === DASH;
    if (!isName && this.#isInvalid(isRaw)) return this.#abandon(code);
    if (this.#attribute.length <= LONGEST_ATTRIBUTE) {
      this.#attribute += String.fromCharCode(code).toLowerCase();
    }
    return false;
  }

  /** A dialog covers the page with an attribute that needs no value. */
  #noteBare(): void {
    if (this.#name === "dialog" || this.#attribute === "popover") this.#changesAppearance = true;
  }

  #beginValue(isRaw: boolean): boolean {
    this.#place = "before-value";
    this.#address = this.#style = undefined;
    const kind = kindOfAttribute(this.#attribute);
    const isLoading = LOADING_ELEMENTS.has(this.#name) || this.#isTornActive;
    const isOutside = !this.#isInSpan && kind !== "inert" && kind !== "appearance";
    if (kind === "active" || isLoading || isOutside || this.#isForeign) this.#isActive = true;
    else if (!this.#isInSpan && ACTIVE_ELEMENTS.has(this.#name)) this.#isActive = true;
    else if (kind === "address") {
      if (this.#name === "script") this.#isActive = true;
      this.#address = new Destination(this.#settings, "attribute");
    } else if (kind === "style") {
      this.#style = new StyleValue();
      this.#changesAppearance = true;
    } else if (kind === "appearance" && !TEXT_ELEMENTS.has(this.#name)) {
      this.#changesAppearance = true;
    }
    // Outside of code it is blocked at once: no further character is sent.
    return (isRaw || !this.#isInSpan) && this.#isActive;
  }

  #feedBeforeValue(code: number, isRaw: boolean): boolean {
    if (isSpace(code)) return false;
    this.#place = "value";
    this.#quote = 0;
    if (code !== DOUBLE_QUOTE && code !== SINGLE_QUOTE) return this.#feedValue(code, isRaw);
    this.#quote = code;
    return false;
  }

  #feedValue(code: number, isRaw: boolean): boolean {
    if (this.#quote !== 0) {
      if (code === this.#quote) {
        this.#quote = 0;
        return this.#endValue(isRaw);
      }
      // If the quotation is never closed this was not a tag, and one starts here.
      if (code === LESS) return true;
      return this.#readValue(code, isRaw);
    }
    if (isSpace(code)) return this.#endValue(isRaw);
    if (code === GREATER) {
      const isFound = this.#endValue(isRaw);
      return this.#endTag() || isFound;
    }
    if (code === LESS) return this.#tear(isRaw);
    const isQuote = code === DOUBLE_QUOTE || code === SINGLE_QUOTE;
    if ((isQuote || code === EQUALS || code === TICK) && this.#isInvalid(isRaw)) {
      return this.#abandon(code);
    }
    return this.#readValue(code, isRaw);
  }

  #readValue(code: number, isRaw: boolean): boolean {
    // Renderers remove the indentation of a line, and browsers remove control characters and line
    // ends in an address.
    const isDropped = code < 0x20 || this.#isLineStart;
    if (this.#style?.feed(code) === true) this.#isActive = true;
    else if (this.#address !== undefined && !isDropped) {
      this.#judgeAddress(this.#address.feed(String.fromCharCode(code)));
    }
    return isRaw && this.#isActive;
  }

  #endValue(isRaw: boolean): boolean {
    this.#judgeAddress(this.#address?.end());
    this.#address = this.#style = undefined;
    this.#attribute = "";
    this.#place = "attributes";
    return isRaw && this.#isActive;
  }

  #judgeAddress(kind: AddressKind | undefined): void {
    if (kind === undefined) return;
    const isLink = LINK_ELEMENTS.has(this.#name) && !this.#isTorn && this.#attribute !== "src";
    const isFine = kind === "own" || kind === "picture" || (isLink && kind === "outside");
    if (!isFine) this.#isActive = true;
  }

  /**
   * A tag that CommonMark does not know is a tag in raw HTML only, and text elsewhere: the stricter
   * reading is assumed.
   */
  #isInvalid(isRaw: boolean): boolean {
    return (!isRaw && !this.#isLoose) || this.#countsText;
  }

  /**
   * A tag is complete. In open code, an element without effect counts with the first text that
   * follows, and never if the code is closed before.
   */
  #endTag(): boolean {
    const isFound = this.#applyTag();
    this.#leave("text");
    return isFound;
  }

  #applyTag(): boolean {
    const name = this.#name;
    if (FOREIGN_ELEMENTS.has(name)) this.#isForeign = true;
    if (TEXT_ELEMENTS.has(name)) this.#running = name;
    else if (this.#isTornText) this.#running = TORN;
    if (this.#changesAppearance || name === OVERRIDE_ELEMENT) this.#isPending = true;
    return this.#isActive || (this.#countsText && !this.#isInSpan);
  }

  /**
   * Another tag starts within one: in raw HTML a browser may see either, elsewhere the first was
   * text.
   */
  #tear(isRaw: boolean): boolean {
    if (!isRaw) return this.#abandon(LESS);
    if (TEXT_ELEMENTS.has(this.#name)) this.#isTornText = true;
    if (ACTIVE_ELEMENTS.has(this.#name)) this.#isTornActive = true;
    this.#isTorn = true;
    this.#place = "open";
    return this.#countsText;
  }

  /** The apparent tag was text. */
  #abandon(code: number): boolean {
    if (this.#place !== "open" && this.#place !== "closing") this.#sawBroken = true;
    this.#leave(code === LESS ? "open" : "text");
    return this.#countsText;
  }

  #leave(place: Place): void {
    this.#place = place;
    this.#isTorn = this.#isTornActive = this.#isTornText = this.#isLoose = this.#isSplit = false;
  }
}

function isLineEnd(code: number): boolean {
  return code === LINE_FEED || code === CARRIAGE_RETURN;
}

function isNameCharacter(code: number): boolean {
  return isAlphanumeric(code) || code === DASH || code === COLON || code === UNDERSCORE;
}

/** Characters without a meaning for any renderer, in any position. */
function isPlain(code: number): boolean {
  return isAlphanumeric(code) || code === 0x20 || code === 0x2b || code === DASH;
}
