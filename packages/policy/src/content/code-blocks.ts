import { isDoubtfulSpace, isForeignSpace, isSpace } from "./characters.js";
import { FenceLine, OpenFence } from "./fence.js";
import { LineStart } from "./line-start.js";
import { ItemLine } from "./list-item.js";
import type { ListItem } from "./list-item.js";

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const LESS = 0x3c;
const GREATER = 0x3e;
const OPEN = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE = 0x5d;
const COLON = 0x3a;
const DOLLAR = 0x24;
const EXCLAMATION = 0x21;
const QUESTION = 0x3f;

/** Elements whose block goes on to their end, over empty lines too. */
const LONG_BLOCKS: ReadonlySet<string> = new Set(["script", "pre", "style", "textarea"]);
const LONGEST_BLOCK_NAME = 8;

/** Deeper, a fence is one in some containers only. */
const WIDEST_INDENT = 3;

/**
 * Tells what stands in a block of code to every Markdown renderer: lines between two plain fences (see `FenceLine`).
 *
 * Renderers differ in nearly everything else: what indents a line, where lists and quotes end, which fence closes which.
 * So nothing else is code, and after a line that only resembles a fence nothing is, to the end of the message: some
 * renderer may be in code where another is not. The same holds for a fence that a block of raw HTML, the title or the
 * label of a reference, or a formula may swallow.
 */
export class CodeBlocks {
  readonly #line = new LineStart();
  readonly #fenceLine = new FenceLine();
  readonly #itemLine = new ItemLine();
  #fence: OpenFence | undefined;
  #isAfterBlank = true;
  /** To micromark a number other than one begins no list in indented code either, not even behind an empty line. */
  #mayBeInParagraph = false;
  /** Words came before: pages cut white space off at the beginning of a text, and what follows is indented less there. */
  #sawWords = false;
  /**
   * The last non-empty line is neither indented code nor a line that marked adds to a paragraph.
   */
  #isBelowPlain = false;
  /** The last line that is neither empty nor code in this item began it. */
  #item: ListItem | undefined;
  /** The line before stands in a quote to every renderer. */
  #isQuote = false;
  #sawQuote = false;
  /** The line before has the mark of a quote. */
  #wasQuoted = false;
  #wasReturn = false;
  /** A line since the last empty one began with `<`. */
  #isHtml = false;
  /** The name behind a `<` that begins a line; `undefined` elsewhere. */
  #blockName: string | undefined;
  /** Of a label that began a line: it is open, or its bracket has just been closed. */
  #label: "none" | "open" | "closed" = "none";
  #isFormula = false;
  /** Nothing counts as code any more. */
  #isDoubtful = false;
  /** Some renderer may have skipped a backtick. */
  #isDisplaced = false;
  /** A block of HTML began that an empty line does not end. */
  #isEndless = false;
  #isTask = false;
  #before = 0;

  /** The text here may be raw HTML. */
  get isRaw(): boolean {
    return this.#isHtml;
  }

  /** No backtick is certain any more. */
  get isDisplaced(): boolean {
    return this.#isDisplaced;
  }

  /** A quote has begun somewhere. */
  get sawQuote(): boolean {
    return this.#sawQuote;
  }

  /** Nothing but the end of the line matters. */
  get isResting(): boolean {
    if (this.#blockName !== undefined || this.#label === "closed" || this.#isTask) return false;
    if (this.#fence !== undefined) return this.#fence.isResting;
    return this.#line.isOver && (this.#isDoubtful || this.#fenceLine.isResting);
  }

  /** A label that began a line is open, or ends here: it may be that of a definition, which knows no code. */
  get isInLabel(): boolean {
    return this.#label !== "none";
  }

  /** Everything to the end of the line is code. */
  get isCodeLine(): boolean {
    return this.#fence?.isResting === true;
  }

  /** An empty line has just ended, and with it every paragraph. */
  get isBetweenParagraphs(): boolean {
    return this.#isAfterBlank && this.#line.isEmpty;
  }

  /** Takes the next character; whether it is certainly code. `inTag`: it stands in an HTML tag. */
  feed(code: number, inTag: boolean): boolean {
    if (code === LINE_FEED || code === CARRIAGE_RETURN) {
      const isPair = code === LINE_FEED && this.#wasReturn;
      this.#wasReturn = code === CARRIAGE_RETURN;
      const wasCode = this.#fence !== undefined;
      if (!isPair) this.#endLine(inTag);
      return wasCode && !this.#isDoubtful;
    }
    this.#wasReturn = false;
    // Whether a line is empty, and a fence is one, depends on who reads it.
    if (isDoubtfulSpace(code)) this.#loseCode();
    if (this.#fence !== undefined) {
      if (this.#fence.feed(code)) return true;
      // From here on it is checked like any other text.
      this.#fence = undefined;
      this.#isDoubtful = this.#isHtml = true;
    }
    if (!this.#isDoubtful) {
      this.#fenceLine.feed(code);
      this.#itemLine.feed(code);
    }
    const wasOver = this.#line.isOver;
    if (!this.#line.feed(code)) return false;
    if (!wasOver && this.#line.hasQuote) this.#sawQuote = true;
    this.#look(code, !wasOver && !this.#line.isStray);
    return false;
  }

  #endLine(inTag: boolean): void {
    if (this.#fence !== undefined) {
      const next = this.#fence.endLine();
      if (next === "unknown") this.#isDoubtful = true;
      if (next !== "code") this.#fence = undefined;
      this.#isAfterBlank = this.#mayBeInParagraph = false;
      this.#isBelowPlain = true;
      return;
    }
    const line = this.#line;
    const isBlank = line.isBlank && !line.isOdd;
    if (this.#blockName !== undefined) this.#endBlockName();
    if (line.hasQuoteInside || (this.#wasQuoted && !line.hasQuote && !isBlank)) this.#losePlace();
    this.#wasQuoted = line.hasQuote;
    if (!this.#isDoubtful) this.#endPlace(inTag, isBlank);
    if (!isBlank) {
      const isIndented = this.#fenceLine.indent > WIDEST_INDENT || line.isOdd;
      this.#isBelowPlain = !isIndented || this.#item !== undefined;
    }
    // A tag that is open hides what follows it.
    if (isBlank && !inTag && !this.#isEndless) this.#isHtml = false;
    this.#isAfterBlank = isBlank;
    this.#mayBeInParagraph = !isBlank || !this.#isBelowPlain;
    this.#isTask = false;
    this.#fenceLine.restart();
    this.#itemLine.restart();
    line.restart();
  }

  /** The container of the next line, as far as every renderer agrees on it. */
  #endPlace(inTag: boolean, isBlank: boolean): void {
    const fenceLine = this.#fenceLine;
    this.#isQuote = fenceLine.isQuoted && (this.#isQuote || !this.#mayBeInParagraph);
    if (isBlank) return;
    if (fenceLine.mayBeFence) {
      this.#openFence(inTag);
      if (!this.#isInItem) this.#item = undefined;
      return;
    }
    const item = this.#itemLine.itemAfter(this.#item, this.#mayBeInParagraph);
    // A line without words may be a rule.
    const isCertain = fenceLine.isResting && (this.#sawWords || item?.indent === 0);
    this.#item = isCertain ? item : undefined;
    if (fenceLine.isResting) this.#sawWords = true;
  }

  /** Whether every renderer takes a plain fence for one here. Indented code is none: marked may add it to a paragraph. */
  get #isPlace(): boolean {
    const { indent, isQuoted } = this.#fenceLine;
    if (indent <= WIDEST_INDENT) return !isQuoted || this.#isQuote;
    return !isQuoted && this.#isInItem;
  }

  get #isInItem(): boolean {
    const depth = this.#item === undefined ? -1 : this.#fenceLine.indent - this.#item.column;
    return depth >= 0 && depth <= WIDEST_INDENT;
  }

  #openFence(inTag: boolean): void {
    const isRaw = inTag || this.#isHtml;
    if (isRaw) this.#isEndless = this.#isHtml = true;
    const isHidden = isRaw || this.#label === "open" || this.#isFormula;
    if (isHidden || !this.#fenceLine.isPlain || !this.#isPlace) this.#isDoubtful = true;
    else this.#fence = new OpenFence(this.#fenceLine);
  }

  #look(code: number, isFirst: boolean): void {
    const before = this.#before;
    this.#before = code;
    if (isFirst) this.#isTask = code === OPEN && this.#line.hasItem;
    // Behind the box of a task (`- [ ] `) marked begins a block.
    if (this.#isTask && code === LESS) this.#isHtml = true;
    if (this.#isTask && code === GREATER) {
      this.#sawQuote = true;
      this.#losePlace();
    }
    if (this.#blockName !== undefined) this.#addToBlockName(code);
    if (this.#label === "closed") {
      // A footnote may begin with a block of HTML.
      if (code === COLON) this.#isDoubtful = this.#isTask = true;
      this.#label = "none";
    }
    if (code === LESS && isFirst) {
      this.#isHtml = true;
      this.#blockName = "";
    } else if (code === OPEN && isFirst && this.#label === "none") this.#label = "open";
    else if (code === CLOSE && this.#label === "open" && before !== BACKSLASH) {
      this.#label = "closed";
    } else if (code === DOLLAR && before === DOLLAR) {
      this.#isFormula = !this.#isFormula;
      this.#before = 0;
    }
  }

  #addToBlockName(code: number): void {
    const name = this.#blockName ?? "";
    if (name === "" && (code === EXCLAMATION || code === QUESTION)) this.#loseHtml();
    const isBehind = isSpace(code) || isForeignSpace(code) || code === 0x3e;
    const isEnd = isBehind || name.length > LONGEST_BLOCK_NAME;
    if (isEnd) this.#endBlockName();
    else this.#blockName = name + String.fromCharCode(code).toLowerCase();
  }

  #endBlockName(): void {
    if (LONG_BLOCKS.has(this.#blockName ?? "")) this.#loseHtml();
    this.#blockName = undefined;
  }

  /** Nothing is code from here on, and everything may be raw HTML. */
  #loseCode(): void {
    this.#fence = undefined;
    this.#isHtml = true;
    this.#loseHtml();
  }

  /** Behind a quote that goes on without its mark marked skips characters, and a backtick or a fence with them. */
  #losePlace(): void {
    this.#isDoubtful = this.#isDisplaced = true;
  }

  /** The end of this block of HTML is unknown. */
  #loseHtml(): void {
    this.#isDoubtful = this.#isEndless = true;
  }
}
