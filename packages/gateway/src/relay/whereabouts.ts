import type { FleetMember } from "../fleet/fleet-store.js";
import type { AddressSeal, RelayAddress } from "./sealed-address.js";
import { tagOf } from "./stream-names.js";

/** Another gateway, and where it is. */
export type FoundGateway = { readonly id: string; readonly address: RelayAddress };

/** Milliseconds for which a gateway is taken to be where it was. */
const FRESH_MS = 5000;

/** Finds other gateways by the tag in the names of their streams. */
export class Whereabouts {
  readonly #members: () => Promise<readonly FleetMember[]>;
  readonly #seal: AddressSeal;
  #known = new Map<string, FoundGateway>();
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(members: () => Promise<readonly FleetMember[]>, seal: AddressSeal) {
    this.#members = members;
    this.#seal = seal;
  }

  /**
   * The gateway with that tag, if it is alive and takes questions. While the database is away, where it was.
   *
   * @throws whatever the members fail with, when it was not known before
   */
  async find(tag: string): Promise<FoundGateway | undefined> {
    const isFresh = performance.now() - this.#readAt < FRESH_MS;
    const known = this.#known.get(tag);
    if (known !== undefined && isFresh) return known;
    try {
      // One question at a time, however many come back at once.
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
    const known = new Map<string, FoundGateway>();
    for (const { id, facts } of await this.#members()) {
      const address = this.#seal.open(id, facts["relay"]);
      if (address !== undefined) known.set(tagOf(id), { id, address });
    }
    this.#known = known;
    this.#readAt = performance.now();
  }
}
