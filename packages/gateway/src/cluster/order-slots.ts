/** Concurrent orders of people, and of operators, who are few. */
const MAX_ORDERS = { person: 32, operator: 64 } as const;
/** A person gets less than this part of the free slots, so that the next person always finds one. */
const SHARE = 4;

/**
 * Limits concurrent orders, because each one polls the database until it is answered.
 *
 * One person alone gets seven slots, and fewer when others hold some. A person without a slot gets
 * one while any is free. Slots stay free until more than a hundred people take all they can.
 */
export class OrderSlots {
  readonly #people = new Map<string, number>();
  #persons = 0;
  #operators = 0;

  /** Takes a slot for a person or an operator. Returns the function that frees it; `undefined` when none is free. */
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
