/** Finds words of a list, also where a message is cut within one. */
export class Words {
  readonly #words: readonly string[];
  /** One less than the longest word: what may be its beginning. */
  readonly #kept: number;
  #tail = "";

  constructor(words: readonly string[]) {
    this.#words = words;
    this.#kept = Math.max(...words.map((word) => word.length)) - 1;
  }

  /** Whether a word is whole with this piece. */
  push(piece: string): boolean {
    const text = this.#tail + piece;
    this.#tail = this.#kept === 0 ? "" : text.slice(-this.#kept);
    return this.#words.some((word) => text.includes(word));
  }
}
