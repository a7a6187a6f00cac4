import type { JsonObject } from "@countersign/core";
import { createTicketSeal } from "../access/ticket-seal.js";

/** The address on which a gateway accepts relay requests. */
export type RelayAddress = { readonly host: string; readonly port: number };

/** Seals and opens the addresses of gateways in the database. */
export type AddressSeal = {
  seal(gateway: string, address: RelayAddress): string;
  /** The address that this gateway sealed; `undefined` for anything else. */
  open(gateway: string, sealed: unknown): RelayAddress | undefined;
};

/**
 * Creates a seal that binds an address to its gateway's name, which is never reused. An attacker
 * with write access to the database can remove an address, but cannot redirect gateways to another
 * one.
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
