import { CountersignError } from "@countersign/core";
import "./errors.js";
import { ANONYMOUS } from "./principal.js";
import type { Principal } from "./principal.js";

/** Sessions whose owner is remembered, over all, and for one principal. */
const MAX_OWNED = 200_000;
const MAX_OWNED_EACH = 2000;

/**
 * Whose session is whose: the first principal that uses an id owns it.
 *
 * Bounded twice: somebody who opens many sessions pushes out their own oldest before another's; over all,
 * the one used longest ago is forgotten.
 */
export class SessionOwners {
  readonly #owners = new Map<string, string>();
  readonly #owned = new Map<string, Set<string>>();
  readonly #limits: { readonly total: number; readonly each: number };

  constructor(limits: { total?: number; each?: number } = {}) {
    this.#limits = { total: limits.total ?? MAX_OWNED, each: limits.each ?? MAX_OWNED_EACH };
  }

  /** Takes the session for this principal, or throws when it is another's. */
  claim(sessionId: string, principal: Principal): void {
    this.check(sessionId, principal);
    // What everybody shares belongs to nobody.
    if (principal.id === ANONYMOUS.id) return;
    // Taking it out first moves it to the young end of both orders.
    this.#forget(sessionId);
    const own = this.#owned.get(principal.id) ?? new Set<string>();
    this.#owned.set(principal.id, own);
    own.add(sessionId);
    this.#owners.set(sessionId, principal.id);
    if (own.size > this.#limits.each) this.#forget(first(own));
    if (this.#owners.size > this.#limits.total) this.#forget(first(this.#owners.keys()));
  }

  /** Throws when the session is another's. */
  check(sessionId: string, principal: Principal): void {
    const owner = this.#owners.get(sessionId);
    if (owner !== undefined && owner !== principal.id) {
      throw new CountersignError("ERR_ACCESS_SESSION", "the session is not yours", {});
    }
  }

  #forget(sessionId: string | undefined): void {
    const owner = sessionId === undefined ? undefined : this.#owners.get(sessionId);
    if (sessionId === undefined || owner === undefined) return;
    this.#owners.delete(sessionId);
    const own = this.#owned.get(owner);
    own?.delete(sessionId);
    if (own?.size === 0) this.#owned.delete(owner);
  }
}

function first(ids: Iterable<string>): string | undefined {
  for (const id of ids) return id;
  return undefined;
}
