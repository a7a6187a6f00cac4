import { SmallMap } from "@countersign/core";
import type { Decision } from "@countersign/policy";
import type { WithheldRegister } from "../../event/withheld-register.js";
import type { UnitKey, UnitPlace } from "../../event/unit.js";

/** Tracks the units that are open on the client, so that every delivered start gets its end. */
export class OpenUnits {
  readonly #shown = new SmallMap<string, true>();
  /** Steps that are withheld. */
  #steps: Set<UnitKey> | undefined;
  readonly #register: WithheldRegister;
  readonly #observes: boolean;

  /** `observes`: remembers a unit that would have been withheld as if it were. */
  constructor(register: WithheldRegister, observes: boolean) {
    this.#register = register;
    this.#observes = observes;
  }

  /** Whether an event must be delivered to close a unit that is open on the client. */
  mustClose(place: UnitPlace | undefined): boolean {
    return place?.phase === "close" && this.#shown.has(place.openKey);
  }

  /** Applies a decision: a unit that is blocked at its start stays withheld to its end. */
  settle(place: UnitPlace | undefined, decision: Decision): void {
    if (place === undefined) return;
    const remark = this.#observes && decision.allow ? decision.observed : undefined;
    const denial = decision.allow ? remark : decision;
    // A block within a unit withholds the rest of it; the client still receives the end.
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
    // Step names can repeat: the next step with this name is judged again.
    if (this.#steps?.delete(place.key) === true) this.#register.release(place.key);
  }

  /** A run starts or ends: no unit stays open. */
  clear(): void {
    this.#shown.clear();
    for (const key of this.#steps ?? []) this.#register.release(key);
    this.#steps = undefined;
  }
}
