import { SmallMap } from "@countersign/core";
import type { Decision } from "@countersign/policy";
import type { WithheldRegister } from "../../event/withheld-register.js";
import type { UnitKey, UnitPlace } from "../../event/unit.js";

/** Keeps which units the person has open, so that what was shown is also closed. */
export class OpenUnits {
  readonly #shown = new SmallMap<string, true>();
  /** Steps that are withheld. */
  #steps: Set<UnitKey> | undefined;
  readonly #register: WithheldRegister;
  readonly #observes: boolean;

  /** `observes`: what would have been withheld is remembered as if it were. */
  constructor(register: WithheldRegister, observes: boolean) {
    this.#register = register;
    this.#observes = observes;
  }

  /** Whether an event must be delivered to close what the person already has open. */
  mustClose(place: UnitPlace | undefined): boolean {
    return place?.phase === "close" && this.#shown.has(place.openKey);
  }

  /** Takes note of a decision: a unit that was blocked at its start stays withheld to its end. */
  settle(place: UnitPlace | undefined, decision: Decision): void {
    if (place === undefined) return;
    const remark = this.#observes && decision.allow ? decision.observed : undefined;
    const denial = decision.allow ? remark : decision;
    // A block in the middle mutes the rest; the end is still owed to the person.
    if (denial !== undefined) {
      this.#register.add(place.key, { rule: denial.rule, reason: denial.reason });
      if (place.key.startsWith("step:")) {
        this.#steps ??= new Set();
        this.#steps.add(place.key);
      }
    }
    if (decision.allow && place.phase === "open") this.#shown.set(place.openKey, true);
    if (place.phase !== "close") return;
    if (decision.allow) this.#shown.delete(place.openKey);
    // A step is a name, not a thing: the next one under it is judged anew.
    if (this.#steps?.delete(place.key) === true) this.#register.release(place.key);
  }

  /** A run starts or ends: whatever was open is not any more. */
  clear(): void {
    this.#shown.clear();
    for (const key of this.#steps ?? []) this.#register.release(key);
    this.#steps = undefined;
  }
}
