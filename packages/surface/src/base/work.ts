/** Each component counts as this many characters in the total. */
const COMPONENT = 1_000;

/** What payloads may cost: a small one can draw one long text, or one change, thousands of times. */
export class Work {
  readonly #total: Work | undefined;
  #left: number;

  /** @param total what all payloads together may cost */
  constructor(limit: number, total?: Work) {
    this.#left = limit;
    this.#total = total;
  }

  /** Whether more was spent than allowed; what is left to do waits. */
  get isOver(): boolean {
    return this.#left < 0 || this.#total?.isOver === true;
  }

  spend(characters: number): void {
    this.#left -= characters;
    this.#total?.spend(characters);
  }

  /** Notes that a component is drawn anew. */
  countComponent(): void {
    if (this.#total === undefined) this.#left -= COMPONENT;
    else this.#total.countComponent();
  }
}
