import type { Decision } from "@countersign/policy";
import type { WithheldRegister } from "../withhold/register.js";
import type { UnitPlace } from "../withhold/unit.js";

/** Keeps which units the person has open, so that what was shown is also closed. */
export class OpenUnits {
  readonly #shown = new Set<string>();
  readonly #register: WithheldRegister;

  constructor(register: WithheldRegister) {
    this.#register = register;
  }

  /** Whether an event must be delivered to close what the person already has open. */
  mustClose(place: UnitPlace | undefined): boolean {
    return place?.phase === "close" && this.#shown.has(place.key);
  }

  /** Takes note of a decision: a unit that was blocked at its start stays withheld to its end. */
  settle(place: UnitPlace | undefined, decision: Decision): void {
    if (place === undefined) return;
    if (decision.allow) {
      if (place.phase === "open") this.#shown.add(place.key);
      else if (place.phase === "close") this.#shown.delete(place.key);
      return;
    }
    // A block in the middle mutes the rest; the end is still owed to the person.
    this.#register.add(place.key, { rule: decision.rule, reason: decision.reason });
  }
}
