import { isDoubtfulSpace, isForeignSpace, isSpace } from "./characters.js";
import { FenceRun, OpenFence } from "./fence.js";
import type { FencePlace } from "./fence.js";
import { LineStart } from "./line-start.js";
import { Lists } from "./lists.js";

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
const TICK = 0x60;
const TILDE = 0x7e;

/** Elements whose block goes on to their end, over empty lines too. */
const LONG_BLOCKS: ReadonlySet<string> = new Set(["script", "pre", "style", "textarea"]);
const LONGEST_BLOCK_NAME = 8;

/**
 * Tells what stands in a block of code and is shown as text by every Markdown renderer: fenced, in lists and quotes
 * too, or indented.
 *
 * What some renderers take for code and others do not is no code here, and from there on nothing is. A block of raw
 * HTML swallows a fence, and in some renderers so do the title of a reference, its label (which marked lets run over
 * any number of lines) and a formula.
 */
export class CodeBlocks {
  readonly #line = new LineStart();
  readonly #lists = new Lists();
  readonly #run = new FenceRun();
  #fence: OpenFence | undefined;
  /** The line is indented code. */
  #isIndented = false;
  #wasIndented = false;
  #isAfterBlank = true;
  #sawText = false;
  #sawQuote = false;
  /** Pages cut white space off at the beginning of a text. */
  #isFirstText = true;
  #wasReturn = false;
  /** A line since the last empty one began with `<`. */
  #isHtml = false;
  /** The name behind a `<` that begins a line; `undefined` elsewhere. */
  #blockName: string | undefined;
  /** Of a label that began a line: it is open, or its bracket has just been closed. */
  #label: "none" | "open" | "closed" = "none";
  #isFormula = false;
  #isDoubtful = false;
  /** A block of HTML began that an empty line does not end. */
  #isEndless = false;
  #isTask = false;
  #ticks = 0;
  #before = 0;

  /** What stands here may be raw HTML. */
  get isRaw(): boolean {
    return this.#isHtml;
  }

  /** A quote has begun somewhere. */
  get sawQuote(): boolean {
    return this.#sawQuote;
  }

  /** Nothing but the end of the line matters. */
  get isResting(): boolean {
    if (this.#blockName !== undefined || this.#label === "closed" || this.#isTask) return false;
    if (this.#fence !== undefined) return this.#fence.isResting;
    return this.#line.isOver && this.#run.character === 0;
  }

  /** A label that began a line is open, or ends here: it may be that of a definition, which knows no code. */
  get isInLabel(): boolean {
    return this.#label !== "none";
  }

  /** Everything to the end of the line is code. */
  get isCodeLine(): boolean {
    return this.#isIndented || this.#fence?.isResting === true;
  }

  /** Takes the next character; whether it is certainly code. `inTag`: it stands in an HTML tag. */
  feed(code: number, inTag: boolean): boolean {
    if (code === LINE_FEED || code === CARRIAGE_RETURN) {
      const isPair = code === LINE_FEED && this.#wasReturn;
      this.#wasReturn = code === CARRIAGE_RETURN;
      const wasCode = this.#fence !== undefined || this.#isIndented;
      if (!isPair) this.#endLine(inTag);
      return wasCode && !this.#isDoubtful;
    }
    this.#wasReturn = false;
    // Whether a line is empty, and a fence is one, depends on who reads it.
    if (isDoubtfulSpace(code)) this.#loseCode();
    if (this.#fence !== undefined) {
      if (this.#fence.feed(code)) return true;
      // What it is from here on is looked at like any other text.
      this.#fence = undefined;
      this.#isDoubtful = this.#isHtml = true;
    }
    const wasOver = this.#line.isOver;
    if (!this.#line.feed(code)) return false;
    if (!wasOver) this.#beginText();
    if (this.#isIndented) return true;
    const isFirst = !wasOver && !this.#line.isStray;
    if (isFirst || this.#run.character !== 0) this.#run.feed(code);
    this.#look(code, isFirst);
    return false;
  }

  /** An empty line has just ended, and with it every paragraph. */
  get isBetweenParagraphs(): boolean {
    return this.#isAfterBlank && this.#line.isBlank && this.#line.column === 0;
  }

  #beginText(): void {
    const line = this.#line;
    this.#lists.see(line, this.#isAfterBlank);
    if (line.quotes > 0) this.#sawQuote = true;
    this.#isFirstText = !this.#sawText;
    const isBlock = line.quotes === 0 && line.marks.length === 0 && line.indent >= 4;
    this.#isIndented =
      isBlock &&
      !this.#isDoubtful &&
      (this.#isAfterBlank || this.#wasIndented) &&
      !this.#isFirstText &&
      !this.#lists.mayBeOpen &&
      !this.#isHtml &&
      this.#label === "none" &&
      !this.#isFormula;
    this.#sawText = true;
  }

  #endLine(inTag: boolean): void {
    if (this.#fence !== undefined) {
      const next = this.#fence.endLine();
      if (next === "unknown") this.#isDoubtful = true;
      if (next !== "code") this.#fence = undefined;
      this.#isAfterBlank = false;
      return;
    }
    const line = this.#line;
    const isBlank = line.isBlank && !line.isOdd;
    if (!line.isBlank && !line.isOver) this.#lists.suspect();
    if (this.#blockName !== undefined) this.#endBlockName();
    if (line.isOver && !this.#isIndented && this.#run.opens && !this.#isDoubtful) {
      const place = this.#placeOf(line);
      if (inTag || this.#isHtml) this.#isEndless = this.#isHtml = true;
      const isHidden = inTag || this.#isHtml || this.#label === "open" || this.#isFormula;
      if (place === undefined || isHidden || this.#run.hasBar) this.#isDoubtful = true;
      else this.#fence = new OpenFence(this.#run, place);
    }
    // A tag that is open hides what follows it.
    if (isBlank && !inTag && !this.#isEndless) this.#isHtml = false;
    this.#wasIndented = this.#isIndented || (this.#wasIndented && line.isBlank);
    this.#isIndented = false;
    this.#isAfterBlank = isBlank;
    this.#isTask = false;
    this.#run.restart();
    line.restart();
  }

  /** Where a fence on this line stands; `undefined` where renderers do not agree that it is one. */
  #placeOf(line: LineStart): FencePlace | undefined {
    const { indent } = line;
    const lists = this.#lists;
    if (line.isMixed) return undefined;
    if (line.quotes > 0) {
      const isPlain = line.quotes === 1 && line.marks.length === 0;
      if (!isPlain || indent > 3 || line.quoteColumn > 3) return undefined;
      return { quote: line.quoteColumn, indent, mayEnd: true };
    }
    const isCertain =
      line.marks.length > 0
        ? lists.isCertain
        : indent <= 3 || lists.holds(indent) || (this.#isAfterBlank && !this.#isFirstText);
    if (!isCertain) return undefined;
    return { quote: undefined, indent, mayEnd: lists.mayBeOpen || indent > 3 };
  }

  #look(code: number, isFirst: boolean): void {
    const before = this.#before;
    this.#before = code;
    if (isFirst) this.#isTask = code === OPEN && this.#line.marks.length > 0;
    if (this.#isTask) this.#lookInTask(code, before);
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

  /** Behind the box of a task (`- [ ] `) marked begins a block. */
  #lookInTask(code: number, before: number): void {
    if (code === LESS) this.#isHtml = true;
    if (code === GREATER) this.#sawQuote = true;
    this.#ticks = (code === TICK || code === TILDE) && code === before ? this.#ticks + 1 : 1;
    if (this.#ticks === 3) this.#isDoubtful = true;
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
    this.#isIndented = this.#wasIndented = false;
    this.#isHtml = true;
    this.#loseHtml();
  }

  /** Where this block of HTML ends, nobody knows. */
  #loseHtml(): void {
    this.#isDoubtful = this.#isEndless = true;
  }
}
