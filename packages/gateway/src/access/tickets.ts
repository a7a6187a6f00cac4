import { CountersignError, sha256Hex } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import type { RowName, StoredRow, KeyedStore } from "../store/keyed-store.js";
import type { Clock } from "../base/ports.js";
import { tokenError } from "./access.js";
import type { Access, Grant, GrantName, Principal } from "./access.js";
import "../base/errors.js";
import { createTicketSeal } from "./ticket-seal.js";
import type { TicketSeal } from "./ticket-seal.js";

/** The session and agent that a ticket opens, once. */
export type TicketPurpose = { readonly sessionId: string; readonly agent: string };

/** A ticket as the client receives it. */
export type Ticket = { readonly ticket: string; readonly expiresAt: number };

/** Options of {@link Tickets}. */
export type TicketOptions = {
  readonly clock: Clock;
  readonly access: Pick<Access, "restore">;
  readonly store: KeyedStore;
  readonly key?: Uint8Array | undefined;
  readonly limits?: { readonly total?: number; readonly each?: number };
};

/** Milliseconds between issuing a ticket and opening its stream. */
export const TICKET_LIFE_MS = 30_000;
/** How far the clock of the issuing gateway may be ahead. */
export const TICKET_SKEW_MS = 120_000;
/** How long a used ticket is remembered: longer than any clock difference with which it could still be valid. */
export const TICKET_KEEP_MS = 600_000;
/** Unused tickets at this gateway, in total and per principal. */
const MAX_TICKETS = 10_000;
const MAX_TICKETS_EACH = 100;
/** The partition of used tickets; it has no agent, since agent names are not empty. */
const USED = JSON.stringify(["", "", "tickets"]);

type Waiting = { readonly principal: string; readonly expiresAt: number };
type Content = { readonly grant: GrantName; readonly purpose: string; readonly expiresAt: number };

/**
 * Tickets for `EventSource`, which cannot send a header. A URL may end up in a log, so a ticket is worth one stream
 * of one session, for 30 seconds.
 *
 * A ticket contains its own sealed content, and the keyed store has the hashes of used tickets. Gateways with one key
 * and one store therefore accept each other's tickets, each once. Write access to the store is not enough to forge
 * a ticket, only to have one accepted twice.
 */
export class Tickets {
  /** By hash, oldest first. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #clock: Clock;
  readonly #access: Pick<Access, "restore">;
  readonly #store: KeyedStore;
  readonly #seal: TicketSeal;
  readonly #limits: { readonly total: number; readonly each: number };
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor({ clock, access, store, key, limits = {} }: TicketOptions) {
    this.#clock = clock;
    this.#access = access;
    this.#store = store;
    this.#seal = createTicketSeal(key);
    this.#limits = { total: limits.total ?? MAX_TICKETS, each: limits.each ?? MAX_TICKETS_EACH };
  }

  /**
   * Called before anything is written for a ticket: rejected requests must not fill the store.
   *
   * @throws CountersignError `ERR_ACCESS_FULL` when too many are unused
   */
  assertRoom({ id }: Principal): void {
    this.#forgetOld();
    let own = 0;
    for (const waiting of this.#waiting.values()) if (waiting.principal === id) own += 1;
    if (this.#waiting.size >= this.#limits.total || own >= this.#limits.each) {
      throw new CountersignError("ERR_ACCESS_FULL", "too many unused tickets", {});
    }
  }

  /** Issues a ticket. */
  issue({ principal, name }: Grant, purpose: TicketPurpose): Ticket {
    // A grant without a name cannot be restored, so the ticket would open nothing.
    if (name === undefined) throw tokenError("ticket");
    this.assertRoom(principal);
    const expiresAt = this.#clock.now() + TICKET_LIFE_MS;
    const ticket = this.#seal.seal({ grant: name, purpose: digestOf(purpose), expiresAt });
    this.#waiting.set(sha256Hex(ticket), { principal: principal.id, expiresAt });
    return { ticket, expiresAt };
  }

  /**
   * Redeems a ticket. Success or failure uses it up, at every gateway.
   *
   * @throws CountersignError `ERR_LEDGER_UNAVAILABLE` when the store cannot tell whether it was used
   */
  async redeem(ticket: string, purpose: TicketPurpose): Promise<Grant> {
    const content = contentOf(this.#seal.open(ticket));
    const now = this.#clock.now();
    if (
      content === undefined ||
      content.expiresAt <= now ||
      content.expiresAt > now + TICKET_LIFE_MS + TICKET_SKEW_MS
    ) {
      throw tokenError("ticket");
    }
    const hash = sha256Hex(ticket);
    this.#waiting.delete(hash);
    const isFirst = await this.#use({ kind: "ticket", id: hash, value: { at: now } }, now);
    const grant = isFirst ? this.#access.restore?.(content.grant) : undefined;
    if (grant === undefined || !grant.isValid() || content.purpose !== digestOf(purpose)) {
      throw tokenError("ticket");
    }
    return grant;
  }

  /** Marks a ticket as used; returns false if it already was. From time to time it also removes old rows. */
  async #use(row: StoredRow, now: number): Promise<boolean> {
    const sweeps = Math.abs(now - this.#sweptAt) >= TICKET_KEEP_MS;
    if (sweeps) this.#sweptAt = now;
    const { known, rows } = await this.#store.claim(
      [{ partition: USED, row }],
      sweeps ? USED : undefined,
    );
    const old: RowName[] = rows.filter(({ value }) => isOld(value, now));
    // Not awaited: a failed removal is repeated at the next one.
    if (old.length > 0) void this.#store.write(USED, [], old).catch(() => undefined);
    return known[0] === undefined;
  }

  /** The oldest come first, so the first that is still valid ends the search. */
  #forgetOld(): void {
    const now = this.#clock.now();
    for (const [hash, { expiresAt }] of this.#waiting) {
      if (expiresAt > now) return;
      this.#waiting.delete(hash);
    }
  }
}

function isOld({ at }: JsonObject, now: number): boolean {
  return typeof at !== "number" || at + TICKET_KEEP_MS < now;
}

function digestOf({ sessionId, agent }: TicketPurpose): string {
  return sha256Hex(JSON.stringify([sessionId, agent]));
}

/** The content was sealed by a gateway of ours, but possibly by another version. */
function contentOf(value: JsonObject | undefined): Content | undefined {
  const { grant, purpose, expiresAt } = (value ?? {}) as Partial<Content>;
  if (typeof grant !== "object" || typeof purpose !== "string" || typeof expiresAt !== "number") {
    return undefined;
  }
  return { grant, purpose, expiresAt };
}
