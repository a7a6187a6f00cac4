import { CountersignError, encodeBase64Url, sha256Hex } from "@countersign/core";
import { randomBytes } from "node:crypto";
import type { Clock } from "../ports.js";
import { tokenError } from "./access.js";
import type { Grant } from "./access.js";
import "./errors.js";

/** What a ticket opens, once. */
export type TicketPurpose = { readonly sessionId: string; readonly agent: string };

/** A ticket for its holder. */
export type Ticket = { readonly ticket: string; readonly expiresAt: number };

/** Milliseconds from the request for a ticket to the stream it opens. */
export const TICKET_LIFE_MS = 30_000;
/** Tickets that may wait at once, over all, and for one principal. */
const MAX_TICKETS = 10_000;
const MAX_TICKETS_EACH = 100;

type Kept = TicketPurpose & { readonly grant: Grant; readonly expiresAt: number };

/**
 * Tickets for `EventSource`, which can send no header: an address may end up in a log, so what stands in it
 * is worth one stream of one session, for half a minute.
 */
export class Tickets {
  readonly #kept = new Map<string, Kept>();
  readonly #clock: Clock;
  readonly #limits: { readonly total: number; readonly each: number };

  constructor(clock: Clock, limits: { total?: number; each?: number } = {}) {
    this.#clock = clock;
    this.#limits = { total: limits.total ?? MAX_TICKETS, each: limits.each ?? MAX_TICKETS_EACH };
  }

  /** Makes a ticket; only its hash is kept. */
  issue(grant: Grant, { sessionId, agent }: TicketPurpose): Ticket {
    this.#forgetOld();
    let own = 0;
    for (const kept of this.#kept.values()) {
      if (kept.grant.principal.id === grant.principal.id) own += 1;
    }
    if (this.#kept.size >= this.#limits.total || own >= this.#limits.each) {
      throw new CountersignError("ERR_ACCESS_FULL", "too many tickets are waiting", {});
    }
    const ticket = encodeBase64Url(randomBytes(32));
    const expiresAt = this.#clock.now() + TICKET_LIFE_MS;
    this.#kept.set(sha256Hex(ticket), { grant, sessionId, agent, expiresAt });
    return { ticket, expiresAt };
  }

  /** Takes a ticket in; whatever comes of it, it is used up. */
  redeem(ticket: string, purpose: TicketPurpose): Grant {
    // Looked up by hash: the time of the look-up tells nothing about the tickets there are.
    const hash = sha256Hex(ticket);
    const kept = this.#kept.get(hash);
    this.#kept.delete(hash);
    if (
      kept === undefined ||
      kept.expiresAt <= this.#clock.now() ||
      kept.sessionId !== purpose.sessionId ||
      kept.agent !== purpose.agent ||
      !kept.grant.isValid()
    ) {
      throw tokenError("ticket");
    }
    return kept.grant;
  }

  /** The oldest come first, so the first that is still good ends the search. */
  #forgetOld(): void {
    const now = this.#clock.now();
    for (const [hash, { expiresAt }] of this.#kept) {
      if (expiresAt > now) return;
      this.#kept.delete(hash);
    }
  }
}
