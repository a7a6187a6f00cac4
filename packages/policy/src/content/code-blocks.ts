import { Fence } from "./fence.js";

const LESS = 0x3c;
const OPEN = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE = 0x5d;
const COLON = 0x3a;
const DOLLAR = 0x24;

/**
 * Tells what stands in a fenced code block and is shown as text by every Markdown renderer.
 *
 * A block of raw HTML swallows a fence, and in some renderers so do the title of a reference, its label (which
 * marked lets run over any number of lines) and a formula: after either, fences no longer count.
 */
export class CodeBlocks {
  readonly #fence = new Fence();
  /** Of a label that began a line: it is open, or its bracket has just been closed. */
  #label: "none" | "open" | "closed" = "none";
  #isFormula = false;
  #isDoubtful = false;
  #before = 0;

  /** Takes the next character; whether it is certainly code. */
  feed(code: number): boolean {
    const fence = this.#fence;
    const wasOpen = fence.isOpen;
    const isFirst = fence.atLineStart;
    const isCode = fence.feed(code);
    if (this.#isDoubtful || fence.isUncertain) return false;
    if (isCode) return true;
    this.#look(code, isFirst);
    if (!wasOpen && fence.isOpen && (this.#label === "open" || this.#isFormula)) {
      this.#isDoubtful = true;
    }
    return false;
  }

  #look(code: number, isFirst: boolean): void {
    const before = this.#before;
    this.#before = code;
    if (this.#label === "closed") {
      if (code === COLON) this.#isDoubtful = true;
      this.#label = "none";
    }
    if (code === LESS && isFirst) this.#isDoubtful = true;
    else if (code === OPEN && isFirst && this.#label === "none") this.#label = "open";
    else if (code === CLOSE && this.#label === "open" && before !== BACKSLASH) {
      this.#label = "closed";
    } else if (code === DOLLAR && before === DOLLAR) {
      this.#isFormula = !this.#isFormula;
      this.#before = 0;
    }
  }
}
