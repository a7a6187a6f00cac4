import { assertWithin, SmallMap } from "@countersign/core";
import type { AgUiEvent } from "@countersign/wire";
import type { OwnRuleId } from "./own-rules.js";
import { callKey, keysOf } from "./unit.js";
import type { UnitKey } from "./unit.js";

/** Why the gateway withholds a unit: the rule and reason of the first block. */
export type Withheld = {
  readonly rule: string;
  readonly reason: string;
  /** In a policy that observes: a block with `mode: enforce` withheld it. */
  readonly isEnforced?: true;
};

/** Why a unit is withheld; in a policy that observes, `isBlocked` tells a block from what enforce mode would block. */
export function withheldBy(
  { rule, reason }: Withheld,
  observes: boolean,
  isBlocked: boolean,
): Withheld {
  // Rules of the gateway have a slash: those that block in observe mode keep the units as they are.
  const isEnforced = observes && isBlocked && !rule.includes("/");
  return isEnforced ? { rule, reason, isEnforced } : { rule, reason };
}

/** A unit that waits for the person's answer is withheld for one run: the next run may have the answer, and judges the unit again. */
const OF_RUN: ReadonlySet<string> = new Set<OwnRuleId>(["gateway/unanswered"]);

/** A subagent carries out its call: one for a call that the person did not approve is withheld with the call. */
const UNAPPROVED: ReadonlySet<string> = new Set<OwnRuleId>([
  "gateway/unanswered",
  "gateway/approval",
]);

/** The limit of withheld units on one thread. At the limit the run ends, because dropping a unit would reveal it. */
const MAX_WITHHELD = 10_000;

/** Tells which units are withheld. */
export type Withholds = { find(key: UnitKey): Withheld | undefined };

/**
 * The units that the gateway withholds on this thread, in every type of event.
 *
 * The register outlives a run: a call that was blocked yesterday must not appear in tomorrow's snapshot. The thread's ledger stores it, so
 * that it survives a restart too.
 */
export class WithheldRegister {
  readonly #units = new SmallMap<UnitKey, Withheld>();
  /** Whether a block with `mode: enforce` has withheld a unit in a policy that observes. */
  hasEnforced = false;
  /** Units that are not written to the ledger yet. Most runs have none, so the first one creates the map. */
  #fresh: Map<UnitKey, Withheld> | undefined;

  /** Why a unit is withheld, or `undefined` when it is not. */
  find(key: UnitKey): Withheld | undefined {
    return this.#units.get(key);
  }

  /** The units that a block with `mode: enforce` withholds in a policy that observes. */
  enforced(): Withholds {
    return {
      find: (key) => {
        const why = this.#units.get(key);
        return why?.isEnforced === true ? why : undefined;
      },
    };
  }

  /** Why an event is withheld: its unit is, or a unit that it belongs to. */
  findFor(event: AgUiEvent): Withheld | undefined {
    if (this.#units.size === 0) return undefined;
    for (const key of keysOf(event)) {
      const why = this.#units.get(key);
      if (why !== undefined) return why;
    }
    if (event.type !== "SUBAGENT_STARTED" || event.parentToolCallId === undefined) return undefined;
    const why = this.#units.get(callKey(event.parentToolCallId));
    return why !== undefined && UNAPPROVED.has(why.rule) ? why : undefined;
  }

  /** Withholds a unit. The first reason stays. */
  add(key: UnitKey, why: Withheld): void {
    if (why.isEnforced === true) this.hasEnforced = true;
    if (this.#units.has(key) && why.isEnforced !== true) return;
    assertWithin("maxWithheldUnits", this.#units.size + 1, MAX_WITHHELD);
    this.#units.set(key, why);
    // A step name is unique only within one run: the next run's step is judged again.
    if (key.startsWith("step:") || OF_RUN.has(why.rule)) return;
    this.#fresh ??= new Map();
    this.#fresh.set(key, why);
  }

  /** Begins a run with the units of earlier runs from the ledger. */
  load(units: Iterable<readonly [UnitKey, Withheld]>): void {
    for (const [key, { rule }] of this.#units) if (OF_RUN.has(rule)) this.#units.delete(key);
    for (const [key, why] of units) if (!this.#units.has(key)) this.#units.set(key, why);
  }

  /** Returns the units added since the last call, to be written. After a failed write the caller returns them with `putBack`. */
  take(): ReadonlyMap<UnitKey, Withheld> | undefined {
    const fresh = this.#fresh;
    this.#fresh = undefined;
    return fresh;
  }

  /** Returns units that could not be written. */
  putBack(units: ReadonlyMap<UnitKey, Withheld>): void {
    this.#fresh = new Map([...units, ...(this.#fresh ?? [])]);
  }

  /** Releases a unit whose key is free after its end, such as a step. */
  release(key: UnitKey): void {
    this.#units.delete(key);
  }

  /** How many units are withheld. */
  get size(): number {
    return this.#units.size;
  }
}
