import type { FleetMember } from "./fleet-store.js";
import type { AddressSeal, RelayAddress } from "./sealed-address.js";
import { tagOf } from "./stream-names.js";

/** Another gateway and its address. */
export type FoundGateway = {
  readonly id: string;
  readonly address: RelayAddress;
  /** True when the database lists it as alive; false when it was listed a moment ago. */
  readonly isListed: boolean;
};

type DeliveredState = FoundGateway & { readonly seenAt: number };

/** Milliseconds for which a listed gateway is served from the cache. */
const FRESH_MS = 5000;
/**
 * Milliseconds for which an unlisted gateway is remembered: its rows are missing for a second after
 * a crash of the database, and expire while the gateway is paused.
 */
const KEEP_MS = 30_000;

/** Finds other gateways by the tag in the names of their streams. */
export class GatewayDirectory {
  readonly #members: () => Promise<readonly FleetMember[]>;
  readonly #seal: AddressSeal;
  #known = new Map<string, DeliveredState>();
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(members: () => Promise<readonly FleetMember[]>, seal: AddressSeal) {
    this.#members = members;
    this.#seal = seal;
  }

  /**
   * Finds the gateway with that tag, if it is alive and accepts relay requests, or was a moment
   * ago. While the database is down, the last known address is returned.
   *
   * @throws the error of `members`, when the gateway was not known before
   */
  async find(tag: string): Promise<FoundGateway | undefined> {
    const isFresh = performance.now() - this.#readAt < FRESH_MS;
    const known = this.#known.get(tag);
    if (known?.isListed === true && isFresh) return known;
    try {
      // One query at a time, for any number of lookups.
      this.#reading ??= this.#read().finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    } catch (error) {
      if (known === undefined) throw error;
    }
    return this.#known.get(tag);
  }

  async #read(): Promise<void> {
    const members = await this.#members();
    const now = performance.now();
    const known = new Map<string, DeliveredState>();
    for (const [tag, before] of this.#known) {
      if (now - before.seenAt < KEEP_MS) known.set(tag, { ...before, isListed: false });
    }
    for (const { id, facts } of members) {
      const address = this.#seal.open(id, facts["relay"]);
      if (address !== undefined) known.set(tagOf(id), { id, address, isListed: true, seenAt: now });
    }
    this.#known = known;
    this.#readAt = now;
  }
}
