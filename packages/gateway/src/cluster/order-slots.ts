/** Orders of people under way at once, and of operators, who are few. */
const MAX_ORDERS = { person: 32, operator: 64 } as const;
/** A person has less than this part of what is free, so that there is always something for the next one. */
const SHARE = 4;

/**
 * Says who may give an order now: each costs questions to the database until it is answered.
 *
 * One person alone gets seven; the more of them ask, the fewer each gets; who has none gets one as long as any is free, and
 * some are until more than a hundred people take all they can at once.
 */
export class OrderSlots {
  readonly #people = new Map<string, number>();
  #persons = 0;
  #operators = 0;

  /** Takes one for a person, or for an operator; gives back what frees it, or nothing when there is none. */
  take(person: string | undefined): (() => void) | undefined {
    if (person === undefined) {
      if (this.#operators >= MAX_ORDERS.operator) return undefined;
      this.#operators += 1;
      return () => {
        this.#operators -= 1;
      };
    }
    const own = this.#people.get(person) ?? 0;
    if (own * SHARE >= MAX_ORDERS.person - this.#persons) return undefined;
    this.#people.set(person, own + 1);
    this.#persons += 1;
    return () => {
      this.#persons -= 1;
      const left = (this.#people.get(person) ?? 1) - 1;
      if (left === 0) this.#people.delete(person);
      else this.#people.set(person, left);
    };
  }
}
