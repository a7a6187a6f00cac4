/** Each component counts as this many characters in the total. */
const COMPONENT = 1_000;

/**
 * The limits of one payload: a small payload can draw one long text, or one change, thousands of times. The code that works on a payload counts as it goes and stops when {@link isOver}.
 */
export class Work {
  readonly #total: Work | undefined;
  #characters: number;
  #steps: number;

  /**
   * @param characters of texts that are made
   * @param steps values that are read, and components that are looked at
   * @param total what all payloads together may cost
   */
  constructor(characters: number, steps: number, total?: Work) {
    this.#characters = characters;
    this.#steps = steps;
    this.#total = total;
  }

  /** Whether more was spent than allowed; what is left to do waits. */
  get isOver(): boolean {
    return this.#characters < 0 || this.#steps < 0 || this.#total?.isOver === true;
  }

  spend(characters: number): void {
    this.#characters -= characters;
    this.#total?.spend(characters);
  }

  step(count = 1): void {
    this.#steps -= count;
    this.#total?.step(count);
  }

  /** Notes that a component is drawn anew. */
  countComponent(): void {
    if (this.#total === undefined) this.spend(COMPONENT);
    else this.#total.countComponent();
  }
}
