/** What one payload may cost: a small one can draw one long text thousands of times. */
export class Work {
  #left: number;

  constructor(limit: number) {
    this.#left = limit;
  }

  /** Whether more was spent than allowed; what is left to do waits. */
  get isOver(): boolean {
    return this.#left < 0;
  }

  spend(characters: number): void {
    this.#left -= characters;
  }
}
