import { assertWithin, SmallMap } from "@countersign/core";
import type { UnitKey } from "./unit.js";

/** Why a unit is kept from the person: the rule and reason of the block that began it. */
export type Withheld = { readonly rule: string; readonly reason: string };

/** Units kept back on one thread; over the bound the run ends rather than forgetting one. */
const MAX_WITHHELD = 10_000;

/**
 * What a person must not see again on this thread, under whatever name of event it returns.
 *
 * It outlives a run: a call that was blocked yesterday must not come back in tomorrow's snapshot. So it outlives the
 * process too, by what is taken out here and written to the thread's ledger.
 */
export class WithheldRegister {
  readonly #units = new SmallMap<UnitKey, Withheld>();
  /** Not written yet; made with the first of them, since most runs have none. */
  #fresh: Map<UnitKey, Withheld> | undefined;

  /** Why a unit is withheld, or `undefined` when it is not. */
  find(key: UnitKey): Withheld | undefined {
    return this.#units.get(key);
  }

  /** Withholds a unit; the first reason stays. */
  add(key: UnitKey, why: Withheld): void {
    if (this.#units.has(key)) return;
    assertWithin("maxWithheldUnits", this.#units.size + 1, MAX_WITHHELD);
    this.#units.set(key, why);
    // A step is a name within one run: the next run's is judged anew.
    if (key.startsWith("step:")) return;
    this.#fresh ??= new Map();
    this.#fresh.set(key, why);
  }

  /** Takes over what is known from earlier runs, wherever they were. */
  load(units: Iterable<readonly [UnitKey, Withheld]>): void {
    for (const [key, why] of units) if (!this.#units.has(key)) this.#units.set(key, why);
  }

  /** What was withheld since the last time, to be written; it is asked for again unless that succeeds. */
  take(): ReadonlyMap<UnitKey, Withheld> | undefined {
    const fresh = this.#fresh;
    this.#fresh = undefined;
    return fresh;
  }

  /** What was taken could not be written. */
  putBack(units: ReadonlyMap<UnitKey, Withheld>): void {
    this.#fresh = new Map([...units, ...(this.#fresh ?? [])]);
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
