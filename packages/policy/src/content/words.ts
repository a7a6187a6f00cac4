/** Finds listed words, also when a message is split within one. */
export class Words {
  readonly #words: readonly string[];
  /** One less than the longest word: a possible start of one. */
  readonly #kept: number;
  #tail = "";

  constructor(words: readonly string[]) {
    this.#words = words;
    this.#kept = Math.max(...words.map((word) => word.length)) - 1;
  }

  /** Whether a word is complete with this piece. */
  push(piece: string): boolean {
    const text = this.#tail + piece;
    this.#tail = this.#kept === 0 ? "" : text.slice(-this.#kept);
    return this.#words.some((word) => text.includes(word));
  }
}
