import { CountersignError } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import type { LedgerClaim, ThreadLedger } from "../thread/ledger.js";
import type { Clock } from "../base/ports.js";
import "../access/errors.js";
import { ANONYMOUS } from "../access/principal.js";
import type { Principal } from "../access/principal.js";

/** Sessions whose owner is remembered here, over all, and for one principal. */
const MAX_OWNED = 200_000;
const MAX_OWNED_EACH = 2000;
/** How long the ledger's word is taken for granted; then it is asked again, and told that the session is in use. */
export const OWNER_TRUST_MS = 3_600_000;

/** A question about a session that goes to the ledger together with others. */
export type SessionRequest = {
  readonly claim: LedgerClaim;
  /** Takes in what the ledger knew already; throws when the session is another's. */
  settle(known: JsonObject | undefined): void;
};

/** What the owners of sessions need of their gateway. */
export type SessionOwnersOptions = {
  readonly clock: Clock;
  readonly ledger: ThreadLedger;
  readonly limits?: { readonly total?: number; readonly each?: number };
};

type Owned = { readonly owner: string; readonly confirmedAt: number };

/**
 * Whose session is whose: the first principal that uses an id owns it, at every gateway that shares the ledger.
 *
 * What this gateway remembers spares it questions. It is bounded twice: somebody who opens many sessions pushes out
 * their own oldest before another's; over all, the one used longest ago is forgotten. An id that the gateway made
 * up itself is nobody else's to name, so the ledger hears of it only when somebody does.
 */
export class SessionOwners {
  readonly #owners = new Map<string, Owned>();
  readonly #owned = new Map<string, Set<string>>();
  readonly #clock: Clock;
  readonly #ledger: ThreadLedger;
  readonly #limits: { readonly total: number; readonly each: number };

  constructor({ clock, ledger, limits = {} }: SessionOwnersOptions) {
    this.#clock = clock;
    this.#ledger = ledger;
    this.#limits = { total: limits.total ?? MAX_OWNED, each: limits.each ?? MAX_OWNED_EACH };
  }

  /** Takes a session that this gateway made up, or throws when it is another's. */
  claim(sessionId: string, principal: Principal): void {
    this.check(sessionId, principal);
    this.#remember(sessionId, principal, this.#owners.get(sessionId)?.confirmedAt);
  }

  /** Takes a session that a client named, at all gateways, or throws when it is another's. */
  async own(sessionId: string, principal: Principal): Promise<void> {
    const question = this.ask(sessionId, principal);
    if (question === undefined) return;
    const { known } = await this.#ledger.claim([question.claim]);
    question.settle(known[0]);
  }

  /**
   * The same, for those who ask the ledger anyway; nothing when the answer is known.
   *
   * @throws CountersignError `ERR_ACCESS_SESSION` when it is known to be another's
   */
  ask(sessionId: string, principal: Principal): SessionRequest | undefined {
    this.check(sessionId, principal);
    const now = this.#clock.now();
    const confirmedAt = this.#owners.get(sessionId)?.confirmedAt ?? Number.NEGATIVE_INFINITY;
    if (isRecent(confirmedAt, now)) {
      this.#remember(sessionId, principal, confirmedAt);
      return undefined;
    }
    const thread = threadOf(sessionId);
    const row = { kind: "session", id: "", value: { owner: principal.id, at: now } } as const;
    // What everybody shares belongs to nobody.
    const claim: LedgerClaim =
      principal.id === ANONYMOUS.id ? { thread, row, isQuestion: true } : { thread, row };
    return {
      claim,
      settle: (known) => {
        if (known !== undefined && known["owner"] !== principal.id) throw foreign();
        this.check(sessionId, principal);
        this.#remember(sessionId, principal, now);
        // A session in use must not grow old in the ledger, or it would be anybody's. Should this fail, the next
        // one to ask tells it.
        if (known !== undefined && !isRecent(Number(known["at"]), now)) {
          void this.#ledger.write(thread, [row]).catch(() => undefined);
        }
      },
    };
  }

  /**
   * Who owns a session, as far as the ledger or this gateway knows; `undefined` where nobody does. StreamRequest takes nothing:
   * the session may have an owner a moment later.
   */
  async ownerOf(sessionId: string): Promise<string | undefined> {
    const row = { kind: "session", id: "", value: {} } as const;
    const question = { thread: threadOf(sessionId), row, isQuestion: true } as const;
    const { known } = await this.#ledger.claim([question]);
    const owner = known[0]?.["owner"];
    return typeof owner === "string" ? owner : this.#owners.get(sessionId)?.owner;
  }

  /** Throws when this gateway knows that the session is another's. */
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
    // Taking it out first moves it to the young end of both orders.
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

/** Where the ledger keeps the owner of a session. */
function threadOf(sessionId: string): string {
  return JSON.stringify(["", "session", sessionId]);
}

/** A clock that was set back makes nothing more recent. */
function isRecent(at: number, now: number): boolean {
  return Math.abs(now - at) < OWNER_TRUST_MS;
}

function foreign(): CountersignError<"ERR_ACCESS_SESSION"> {
  return new CountersignError("ERR_ACCESS_SESSION", "the session is not yours", {});
}

function first(ids: Iterable<string>): string | undefined {
  for (const id of ids) return id;
  return undefined;
}
