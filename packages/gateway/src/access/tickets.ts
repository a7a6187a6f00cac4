import { CountersignError, sha256Hex } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import type { LedgerName, LedgerRow, ThreadLedger } from "../thread/ledger.js";
import type { Clock } from "../base/ports.js";
import { tokenError } from "./access.js";
import type { Access, Grant, GrantName } from "./access.js";
import "./errors.js";
import type { Principal } from "./principal.js";
import { createTicketSeal } from "./ticket-seal.js";
import type { TicketSeal } from "./ticket-seal.js";

/** What a ticket opens, once. */
export type TicketPurpose = { readonly sessionId: string; readonly agent: string };

/** A ticket for its holder. */
export type Ticket = { readonly ticket: string; readonly expiresAt: number };

/** What tickets need of their gateway. */
export type TicketOptions = {
  readonly clock: Clock;
  readonly access: Pick<Access, "restore">;
  readonly ledger: ThreadLedger;
  readonly key?: Uint8Array | undefined;
  readonly limits?: { readonly total?: number; readonly each?: number };
};

/** Milliseconds from the request for a ticket to the stream it opens. */
export const TICKET_LIFE_MS = 30_000;
/** How far the clock of the gateway that issued a ticket may be ahead. */
export const TICKET_SKEW_MS = 120_000;
/** How long it is known that a ticket was used: longer than clocks differ by which it could still count. */
export const TICKET_KEEP_MS = 600_000;
/** Tickets that may wait at once at this gateway, over all, and for one principal. */
const MAX_TICKETS = 10_000;
const MAX_TICKETS_EACH = 100;
/** Where used tickets are kept: a thread of no agent, since names of agents are not empty. */
const USED = JSON.stringify(["", "", "tickets"]);

type Waiting = { readonly principal: string; readonly expiresAt: number };
type Content = { readonly grant: GrantName; readonly purpose: string; readonly expiresAt: number };

/**
 * Tickets for `EventSource`, which can send no header: an address may end up in a log, so what stands in it
 * is worth one stream of one session, for half a minute.
 *
 * A ticket says itself what it is good for, sealed, and the ledger knows which were used, by their hashes. So
 * gateways with one key and one ledger take each other's tickets, each once; and who can write to the ledger
 * can make up no ticket, only have one taken twice.
 */
export class Tickets {
  /** By hash, oldest first. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #clock: Clock;
  readonly #access: Pick<Access, "restore">;
  readonly #ledger: ThreadLedger;
  readonly #seal: TicketSeal;
  readonly #limits: { readonly total: number; readonly each: number };
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor({ clock, access, ledger, key, limits = {} }: TicketOptions) {
    this.#clock = clock;
    this.#access = access;
    this.#ledger = ledger;
    this.#seal = createTicketSeal(key);
    this.#limits = { total: limits.total ?? MAX_TICKETS, each: limits.each ?? MAX_TICKETS_EACH };
  }

  /**
   * Asked before anything is written for a ticket: what is refused must not fill the ledger.
   *
   * @throws CountersignError `ERR_ACCESS_FULL` when too many are waiting
   */
  assertRoom({ id }: Principal): void {
    this.#forgetOld();
    let own = 0;
    for (const waiting of this.#waiting.values()) if (waiting.principal === id) own += 1;
    if (this.#waiting.size >= this.#limits.total || own >= this.#limits.each) {
      throw new CountersignError("ERR_ACCESS_FULL", "too many tickets are waiting", {});
    }
  }

  /** Makes a ticket. */
  issue({ principal, name }: Grant, purpose: TicketPurpose): Ticket {
    // What cannot be named cannot be had again, so nothing could be opened with it.
    if (name === undefined) throw tokenError("ticket");
    this.assertRoom(principal);
    const expiresAt = this.#clock.now() + TICKET_LIFE_MS;
    const ticket = this.#seal.seal({ grant: name, purpose: digestOf(purpose), expiresAt });
    this.#waiting.set(sha256Hex(ticket), { principal: principal.id, expiresAt });
    return { ticket, expiresAt };
  }

  /**
   * Takes a ticket in; whatever comes of it, it is used up, at every gateway.
   *
   * @throws CountersignError `ERR_LEDGER_UNAVAILABLE` when nobody can say whether it was used
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

  /** Whether nobody used it before. Now and then, what was used long ago is read along and removed. */
  async #use(row: LedgerRow, now: number): Promise<boolean> {
    const sweeps = Math.abs(now - this.#sweptAt) >= TICKET_KEEP_MS;
    if (sweeps) this.#sweptAt = now;
    const { known, rows } = await this.#ledger.claim(
      [{ thread: USED, row }],
      sweeps ? USED : undefined,
    );
    const old: LedgerName[] = rows.filter(({ value }) => isOld(value, now));
    // Not waited for: what is old now is still old at the next time.
    if (old.length > 0) void this.#ledger.write(USED, [], old).catch(() => undefined);
    return known[0] === undefined;
  }

  /** The oldest come first, so the first that is still good ends the search. */
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

/** What was sealed is ours, but maybe another version's. */
function contentOf(value: JsonObject | undefined): Content | undefined {
  const { grant, purpose, expiresAt } = (value ?? {}) as Partial<Content>;
  if (typeof grant !== "object" || typeof purpose !== "string" || typeof expiresAt !== "number") {
    return undefined;
  }
  return { grant, purpose, expiresAt };
}
