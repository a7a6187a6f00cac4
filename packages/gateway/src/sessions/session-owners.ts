import { CountersignError } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import type { RowClaim, KeyedStore } from "../store/keyed-store.js";
import type { Clock } from "../base/ports.js";
import "../base/errors.js";
import { ANONYMOUS } from "../access/access.js";
import type { Principal } from "../access/access.js";

/** Cached owners of sessions: in total, and for one principal. */
const MAX_OWNED = 200_000;
const MAX_OWNED_EACH = 2000;
/** How long a cached owner is trusted; then the store is queried again, which also refreshes the session's age. */
export const OWNER_TRUST_MS = 3_600_000;

/** The claim of a session for a principal, which is sent to the store together with others. */
export type OwnerClaim = {
  readonly claim: RowClaim;
  /** Takes the store's row; throws when the session belongs to another principal. */
  settle(known: JsonObject | undefined): void;
};

/** Options of {@link SessionOwners}. */
export type SessionOwnersOptions = {
  readonly clock: Clock;
  readonly store: KeyedStore;
  readonly limits?: { readonly total?: number; readonly each?: number };
};

type Owned = { readonly owner: string; readonly confirmedAt: number };

/**
 * Owners of sessions: the first principal that uses an id owns it, at every gateway that shares the
 * store.
 *
 * The cache saves queries and has two bounds. A principal with many sessions evicts its own oldest
 * one first; in total, the least recently used one is evicted. A client cannot know an id that the
 * gateway has just generated, so the store gets a row only when a client names it.
 */
export class SessionOwners {
  readonly #owners = new Map<string, Owned>();
  readonly #owned = new Map<string, Set<string>>();
  readonly #clock: Clock;
  readonly #store: KeyedStore;
  readonly #limits: { readonly total: number; readonly each: number };

  constructor({ clock, store, limits = {} }: SessionOwnersOptions) {
    this.#clock = clock;
    this.#store = store;
    this.#limits = { total: limits.total ?? MAX_OWNED, each: limits.each ?? MAX_OWNED_EACH };
  }

  /** Remembers the owner of a session that this gateway generated, in the cache only; throws when it belongs to another principal. */
  rememberOwn(sessionId: string, principal: Principal): void {
    this.check(sessionId, principal);
    this.#remember(sessionId, principal, this.#owners.get(sessionId)?.confirmedAt);
  }

  /** Claims a session that a client named, at all gateways; throws when it belongs to another principal. */
  async claim(sessionId: string, principal: Principal): Promise<void> {
    const prepared = this.prepareClaim(sessionId, principal);
    if (prepared === undefined) return;
    const { known } = await this.#store.claim([prepared.claim]);
    prepared.settle(known[0]);
  }

  /**
   * Prepares the claim, to be sent with others; `undefined` when the cache has the owner.
   *
   * @throws CountersignError `ERR_ACCESS_SESSION` when it belongs to another principal
   */
  prepareClaim(sessionId: string, principal: Principal): OwnerClaim | undefined {
    this.check(sessionId, principal);
    const now = this.#clock.now();
    const confirmedAt = this.#owners.get(sessionId)?.confirmedAt ?? Number.NEGATIVE_INFINITY;
    if (isRecent(confirmedAt, now)) {
      this.#remember(sessionId, principal, confirmedAt);
      return undefined;
    }
    const partition = partitionOf(sessionId);
    const row = { kind: "session", id: "", value: { owner: principal.id, at: now } } as const;
    // A session that every client shares has no owner.
    const claim: RowClaim =
      principal.id === ANONYMOUS.id ? { partition, row, isLookup: true } : { partition, row };
    return {
      claim,
      settle: (known) => {
        if (known !== undefined && known["owner"] !== principal.id) throw foreign();
        this.check(sessionId, principal);
        this.#remember(sessionId, principal, now);
        // A session in use must not expire, or any principal could claim it. If this write fails, the next query
        // repeats it.
        if (known !== undefined && !isRecent(Number(known["at"]), now)) {
          void this.#store.write(partition, [row]).catch(() => undefined);
        }
      },
    };
  }

  /**
   * The owner of a session in the cache or the store, if any. Claims nothing: the session may have an owner a moment
   * later.
   */
  async ownerOf(sessionId: string): Promise<string | undefined> {
    const row = { kind: "session", id: "", value: {} } as const;
    const lookup = { partition: partitionOf(sessionId), row, isLookup: true } as const;
    const { known } = await this.#store.claim([lookup]);
    const owner = known[0]?.["owner"];
    return typeof owner === "string" ? owner : this.#owners.get(sessionId)?.owner;
  }

  /** Throws when the cache knows another owner of the session. */
  check(sessionId: string, principal: Principal): void {
    const owner = this.#owners.get(sessionId)?.owner;
    if (owner !== undefined && owner !== principal.id) throw foreign();
  }

  #remember(
    sessionId: string,
    principal: Principal,
    confirmedAt: number = Number.NEGATIVE_INFINITY,
  ): void {
    if (principal.id === ANONYMOUS.id) return;
    // Deleting it first moves it to the end of both maps.
    this.#forget(sessionId);
    const own = this.#owned.get(principal.id) ?? new Set<string>();
    this.#owned.set(principal.id, own);
    own.add(sessionId);
    this.#owners.set(sessionId, { owner: principal.id, confirmedAt });
    if (own.size > this.#limits.each) this.#forget(first(own));
    if (this.#owners.size > this.#limits.total) this.#forget(first(this.#owners.keys()));
  }

  #forget(sessionId: string | undefined): void {
    const owner = sessionId === undefined ? undefined : this.#owners.get(sessionId)?.owner;
    if (sessionId === undefined || owner === undefined) return;
    this.#owners.delete(sessionId);
    const own = this.#owned.get(owner);
    own?.delete(sessionId);
    if (own?.size === 0) this.#owned.delete(owner);
  }
}

/** The partition of a session's owner. */
function partitionOf(sessionId: string): string {
  return JSON.stringify(["", "session", sessionId]);
}

/** False for a time in the future, after the clock was set back. */
function isRecent(at: number, now: number): boolean {
  return Math.abs(now - at) < OWNER_TRUST_MS;
}

function foreign(): CountersignError<"ERR_ACCESS_SESSION"> {
  return new CountersignError("ERR_ACCESS_SESSION", "the session belongs to another principal", {});
}

function first(ids: Iterable<string>): string | undefined {
  for (const id of ids) return id;
  return undefined;
}
