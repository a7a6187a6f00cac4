import type { FleetMember } from "./fleet-store.js";
import { tagOf } from "./stream-names.js";
import type { JsonObject } from "@countersign/core";
import { createTicketSeal } from "../access/ticket-seal.js";
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";

/** Another gateway and its address. */
export type FoundGateway = {
  readonly id: string;
  readonly address: RelayAddress;
  /** True when the database lists it as alive; false when it was listed a moment ago. */
  readonly isListed: boolean;
};

type CachedGateway = FoundGateway & { readonly seenAt: number };

/** Milliseconds for which a listed gateway is served from the cache. */
const FRESH_MS = 5000;
/**
 * Milliseconds for which an unlisted gateway is remembered: its rows are missing after a crash of the database or a
 * pause.
 */
const KEEP_MS = 30_000;

/** Finds other gateways by the tag in the names of their streams. */
export class GatewayDirectory {
  readonly #members: () => Promise<readonly FleetMember[]>;
  readonly #seal: AddressSeal;
  #known = new Map<string, CachedGateway>();
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
    const known = new Map<string, CachedGateway>();
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

/** The address on which a gateway accepts relay requests. */
export type RelayAddress = { readonly host: string; readonly port: number };

/** Seals and opens the addresses of gateways in the database. */
export type AddressSeal = {
  seal(gateway: string, address: RelayAddress): string;
  /** The address that this gateway sealed; `undefined` for anything else. */
  open(gateway: string, sealed: unknown): RelayAddress | undefined;
};

/**
 * Creates a seal that binds an address to its gateway's name, which is never reused: with write access to the database
 * an attacker can remove an address, but not redirect gateways to another one.
 */
export function createAddressSeal(key: Uint8Array): AddressSeal {
  const seal = createTicketSeal(key);
  return {
    seal: (gateway, { host, port }) => seal.seal({ gateway, host, port }),
    open: (gateway, sealed) => {
      if (typeof sealed !== "string") return undefined;
      const { gateway: named, host, port }: JsonObject = seal.open(sealed) ?? {};
      if (named !== gateway || typeof host !== "string" || typeof port !== "number") {
        return undefined;
      }
      return { host, port };
    },
  };
}

/** Characters kept of a host name; a pod's has up to 63. */
const MAX_HOST = 63;

/** Random bytes of a name. */
const OWN_BYTES = 4;

/** Creates the name of a gateway process: its host and a random suffix, because gateways share hosts and restart. */
export function createGatewayName(host: string = hostname()): string {
  const readable = host.replaceAll(/[^A-Za-z0-9.-]/gu, "-").slice(0, MAX_HOST);
  return `${readable === "" ? "gateway" : readable}-${randomBytes(OWN_BYTES).toString("hex")}`;
}

/** The random suffix of a gateway's name, without its host. */
export function nameSuffix(name: string): string {
  return name.slice(-2 * OWN_BYTES);
}
