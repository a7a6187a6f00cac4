import { Addresses } from "./addresses.js";
import { UserBeforeHost } from "./authority.js";
import { CodeBlocks } from "./code-blocks.js";
import { CodeSpans } from "./code-spans.js";
import type { ContentFinding, ContentKind } from "./finding.js";
import { HiddenText } from "./hidden-text.js";
import { Markup } from "./markup.js";
import type { ContentSettings } from "./settings.js";
import { Words } from "./words.js";

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const DOT = 0x2e;
const TICK = 0x60;
/** The longest beginning of an address that has no scheme. */
const WIDE = "www";

/** Characters of ASCII that mean nothing by themselves, while nothing is open. */
const IS_PLAIN: readonly boolean[] = Array.from(
  { length: 0x7f },
  (_, code) => code >= 0x20 && !"!$&./<@[\\]`|~".includes(String.fromCharCode(code)),
);

/**
 * Reads one message as it grows, so that nothing passes because it was cut in two.
 *
 * One pass with a state of fixed size: the work is the same however the text is cut, and no text makes it slow.
 */
export class TextScanner {
  #trustsCode: boolean;
  readonly #maxCharacters: number;
  readonly #isByEvent: boolean;
  readonly #blocks = new CodeBlocks();
  readonly #spans = new CodeSpans();
  readonly #hidden: HiddenText | undefined;
  readonly #markup: Markup | undefined;
  readonly #user: UserBeforeHost | undefined;
  readonly #addresses: Addresses | undefined;
  readonly #words: Words | undefined;
  #characters = 0;
  /** No machine cares for a plain character. */
  #isResting = false;
  /** Nothing but the end of the line matters. */
  #isCodeLine = false;
  /** The last character was none of ASCII. */
  #wasBeyond = false;
  /** The end of what was read, where `www.` may be cut. */
  #tail = "";
  #wasInSpan = false;
  #sawRaw = false;
  /** The last character was a carriage return: no line feed follows it so far. */
  #endsInReturn = false;
  /** Renderers disagree on a carriage return without a line feed: it ends a line, is white space or is removed. See {@link isLooseEnd}. */
  #sawLooseEnd = false;
  /** The code that is open is code to every renderer once it is closed, and no part of a label. */
  #mayHold = true;
  /** Code in a bracket that is still open would matter as text. */
  #mattersInLabel = false;
  /** Found in code within a line that is still open. */
  #inSpan: ContentFinding | undefined;

  /** `trustsCode: false` reads code blocks like any text: where a client may join texts, what is code is not known. */
  constructor(settings: ContentSettings, { trustsCode = true }: { trustsCode?: boolean } = {}) {
    this.#trustsCode = trustsCode;
    this.#maxCharacters = settings.maxCharacters;
    this.#isByEvent = settings.isByEvent;
    if (settings.hidden) this.#hidden = new HiddenText();
    if (settings.markup) this.#markup = new Markup(settings);
    if (settings.links) this.#user = new UserBeforeHost();
    if (settings.words.length > 0) this.#words = new Words(settings.words);
    if (settings.links || settings.images) this.#addresses = new Addresses(settings);
  }

  /** Takes the next piece of the message; the first thing that is found in it. */
  push(text: string): ContentFinding | undefined {
    const start = this.#characters;
    this.#characters += text.length;
    // The message is too long: the client does not get the rest, so the scanner does not read it.
    if (this.#characters > this.#maxCharacters) {
      return { kind: "max_characters", offset: this.#maxCharacters };
    }
    if (this.#endsInReturn && text.length > 0) this.#readReturn(text.charCodeAt(0));
    let found: ContentFinding | undefined;
    if (this.#words?.push(text) === true) found ??= { kind: "words", offset: start };
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (this.#passes(code, start + at)) continue;
      if (this.#hidden?.feed(code, start + at) === true)
        found ??= { kind: "hidden", offset: start + at };
      if (isLooseEnd(code)) this.#distrust();
      if (this.#isSkipped(code)) continue;
      if (code === CARRIAGE_RETURN) {
        if (at + 1 < text.length) this.#readReturn(text.charCodeAt(at + 1));
        else this.#endsInReturn = true;
      }
      if (code === DOT && this.#isWide(text, at)) this.#spans.beginAddress();
      const kind = this.#feed(code);
      // Code that ended without being closed was text.
      if (this.#inSpan !== undefined && !this.#spans.isOpen) found ??= this.#takeInSpan();
      if (kind !== undefined) found ??= this.#settle({ kind, offset: start + at });
      this.#isResting = (IS_PLAIN[code] === true || code >= 0xa0 || code === DOT) && this.#rests();
      this.#isCodeLine =
        this.#trustsCode && this.#blocks.isCodeLine && this.#markup?.isResting !== false;
    }
    this.#tail =
      text.length >= WIDE.length
        ? text.slice(-WIDE.length)
        : (this.#tail + text).slice(-WIDE.length);
    // Shown as it is by now, what is open is text.
    if (this.#inSpan !== undefined && !this.#spans.isClosing) found ??= this.#takeInSpan();
    return found;
  }

  /** Behind a carriage return without a line feed nothing is code, and no blank line ends a tag. */
  #readReturn(next: number): void {
    this.#endsInReturn = false;
    if (next !== LINE_FEED) this.#distrust();
  }

  /** Renderers disagree on where the line ends, and so on what is code behind it. */
  #distrust(): void {
    this.#sawLooseEnd = true;
    this.#trustsCode = false;
    this.#isCodeLine = false;
    this.#spans.distrust();
  }

  /** Most of prose: nothing cares for it. */
  #passes(code: number, at: number): boolean {
    if (IS_PLAIN[code] !== true || !(this.#isResting || this.#isCodeLine)) return false;
    if (this.#user?.isDecoding === true) return false;
    if (this.#wasBeyond) {
      // It ends a row of invisible characters.
      this.#hidden?.feed(code, at);
      this.#wasBeyond = false;
    }
    // The letters of a scheme are plain.
    if (!this.#isCodeLine) this.#user?.feed(code);
    return true;
  }

  /** The same for what is not ASCII, and for all of a line of code. */
  #isSkipped(code: number): boolean {
    this.#wasBeyond = code >= 0x7f;
    if (this.#isCodeLine) return code !== LINE_FEED && code !== CARRIAGE_RETURN;
    if (!this.#isResting || code < 0xa0 || this.#user?.isDecoding === true) return false;
    this.#user?.feed(code);
    return true;
  }

  #isWide(text: string, at: number): boolean {
    const before =
      at >= WIDE.length ? text.slice(at - WIDE.length, at) : this.#tail + text.slice(0, at);
    return before.slice(-WIDE.length).toLowerCase() === WIDE;
  }

  #feed(code: number): ContentKind | undefined {
    const blocks = this.#blocks;
    const spans = this.#spans;
    const markup = this.#markup;
    // Nothing in a code block is a link, an image or an element, and samples of code look like all three.
    if (blocks.feed(code, markup?.isInTag ?? this.#sawRaw) && this.#trustsCode) {
      spans.skipCode();
      return markup?.skipCode(code) === true ? "markup" : undefined;
    }
    const { isRaw } = blocks;
    if (isRaw) this.#sawRaw = true;
    if (isRaw || blocks.isDisplaced) spans.distrust();
    if (spans.feed(code)) this.#closeSpan();
    const endsParagraph = blocks.isBetweenParagraphs && !isRaw && !this.#sawLooseEnd;
    const isText = endsParagraph && markup?.endParagraph() === true;
    if (endsParagraph) spans.endParagraph();
    if (spans.isOpen !== this.#wasInSpan) this.#turn(spans.isOpen);
    // One more backtick, and it would be text after all.
    const isMarkup =
      !spans.isClosing && markup?.feed(code, isRaw, spans.isOpen, blocks.sawQuote) === true;
    const isUser = this.#user?.feed(code) === true;
    const address = this.#addresses?.feed(code);
    if (isText || isMarkup || this.#isReadAgain(code)) return "markup";
    return isUser ? "links" : address;
  }

  /** Behind a bracket that is never closed, one more backtick makes text of all code before it in markdown-it 14. */
  #isReadAgain(code: number): boolean {
    if (this.#spans.isOutsideLabels) this.#mattersInLabel = false;
    return this.#mattersInLabel && code === TICK;
  }

  #rests(): boolean {
    return (
      this.#blocks.isResting &&
      this.#spans.isResting &&
      this.#markup?.isResting !== false &&
      this.#addresses?.isResting !== false
    );
  }

  /** Code within a line has begun, or may no longer be taken for it. */
  #turn(isOpen: boolean): void {
    this.#wasInSpan = isOpen;
    if (!isOpen) return;
    this.#mayHold = !this.#blocks.isInLabel && this.#spans.isOutsideLabels;
    this.#markup?.openSpan();
    this.#addresses?.openSpan();
  }

  #closeSpan(): void {
    const isMarkup = this.#markup?.closeSpan() === true;
    const isAddress = this.#addresses?.closeSpan() === true;
    if (isMarkup || isAddress) this.#mattersInLabel = true;
    this.#inSpan = undefined;
  }

  /** A finding in inline code waits for the end of the code, if the page never shows a part of an event. */
  #settle(finding: ContentFinding): ContentFinding | undefined {
    if (!this.#isByEvent || !this.#spans.isOpen || !this.#mayHold) return finding;
    this.#inSpan ??= finding;
    return undefined;
  }

  #takeInSpan(): ContentFinding | undefined {
    const finding = this.#inSpan;
    this.#inSpan = undefined;
    return finding;
  }
}

/** Characters that end a line to remarkable alone. */
function isLooseEnd(code: number): boolean {
  return code === 0x2028 || code === 0x85 || code === 0x2424;
}
