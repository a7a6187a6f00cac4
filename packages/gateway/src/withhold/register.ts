import { assertWithin, SmallMap } from "@countersign/core";
import type { UnitKey } from "./unit.js";

/** Why a unit is kept from the person: the rule and reason of the block that began it. */
export type Withheld = { readonly rule: string; readonly reason: string };

/** Units kept back on one thread; over the bound the run ends rather than forgetting one. */
const MAX_WITHHELD = 10_000;

/**
 * What a person must not see again on this thread, under whatever name of event it returns.
 *
 * It outlives a run: a call that was blocked yesterday must not come back in tomorrow's snapshot.
 */
export class WithheldRegister {
  readonly #units = new SmallMap<UnitKey, Withheld>();

  /** Why a unit is withheld, or `undefined` when it is not. */
  find(key: UnitKey): Withheld | undefined {
    return this.#units.get(key);
  }

  /** Withholds a unit; the first reason stays. */
  add(key: UnitKey, why: Withheld): void {
    if (this.#units.has(key)) return;
    assertWithin("maxWithheldUnits", this.#units.size + 1, MAX_WITHHELD);
    this.#units.set(key, why);
  }

  /** Lets a unit go that has no identity beyond its own end, as a step has none. */
  release(key: UnitKey): void {
    this.#units.delete(key);
  }

  /** How many units are withheld. */
  get size(): number {
    return this.#units.size;
  }
}
