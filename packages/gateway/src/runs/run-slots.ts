import { CountersignError } from "@countersign/core";
import "../base/errors.js";
import { ANONYMOUS } from "../access/access.js";
import type { Principal } from "../access/access.js";

/** Counts the open runs of each principal. */
export class RunSlots {
  readonly #open = new Map<string, number>();
  readonly #allowed: number;

  constructor(allowed: number) {
    this.#allowed = allowed;
  }

  /** Takes a slot, or throws when none is free; returns a function that releases it once. */
  take(principal: Principal): () => void {
    const { id } = principal;
    // Anonymous clients share one principal, so their runs are limited by address instead.
    if (id === ANONYMOUS.id) return releaseNothing;
    const open = this.#open.get(id) ?? 0;
    if (open >= this.#allowed) {
      throw new CountersignError("ERR_ACCESS_RUNS", "too many open runs", {
        allowed: this.#allowed,
      });
    }
    this.#open.set(id, open + 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      const left = (this.#open.get(id) ?? 1) - 1;
      if (left > 0) this.#open.set(id, left);
      else this.#open.delete(id);
    };
  }
}

function releaseNothing(): void {}
