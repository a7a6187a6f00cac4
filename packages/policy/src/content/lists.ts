import type { LineStart, ListMark } from "./line-start.js";

/** Deeper lists are not followed. */
const DEEPEST = 16;
const NONE: readonly ListMark[] = [];

/** Follows the list items that are open, as far as every renderer agrees on them. */
export class Lists {
  #open: readonly ListMark[] = NONE;
  #mayBeOpen = false;
  #isCertain = true;

  /** A list may be open, for some renderer. */
  get mayBeOpen(): boolean {
    return this.#mayBeOpen;
  }

  /** The marks of the current line certainly begin list items. */
  get isCertain(): boolean {
    return this.#isCertain;
  }

  /** Whether a block that is indented so far certainly stands in an open item, and not deeper than its text. */
  holds(indent: number): boolean {
    const item = this.#open.at(-1);
    return item !== undefined && indent >= item.content && indent <= item.content + 3;
  }

  /** Takes note of a line that has marks and no text. */
  suspect(): void {
    this.#mayBeOpen = true;
  }

  /** Takes note of a line whose text begins. */
  see(line: LineStart, isAfterBlank: boolean): void {
    const [first] = line.marks;
    this.#isCertain = first !== undefined && line.quotes === 0 && !line.isMixed;
    const indent = first?.column ?? line.indent;
    if (first !== undefined) this.#mayBeOpen = true;
    else if (isAfterBlank && line.column === 0) this.#mayBeOpen = false;
    if (line.quotes > 0) this.#open = NONE;
    else if (first !== undefined || this.#open.length > 0) this.#nest(line, indent, isAfterBlank);
  }

  #nest({ marks }: LineStart, indent: number, isAfterBlank: boolean): void {
    const isSibling = this.#open.some(({ column }) => column === indent);
    const open = this.#open.filter(({ content }) => content <= indent);
    marks.forEach((mark, index) => {
      const depth = mark.column - (open.at(-1)?.content ?? 0);
      // Within a paragraph only bullets and the number one begin a list.
      const canBegin =
        mark.number === undefined || mark.number === 1 || isAfterBlank || isSibling || index > 0;
      if (depth < 0 || depth > 3 || !canBegin || open.length >= DEEPEST) this.#isCertain = false;
      if (this.#isCertain) open.push(mark);
    });
    this.#open = marks.length > 0 && !this.#isCertain ? NONE : open;
  }
}
