import type { JsonObject } from "@countersign/core";
import { createTicketSeal } from "../access/ticket-seal.js";

/** Where a gateway takes questions of others. */
export type RelayAddress = { readonly host: string; readonly port: number };

/** The addresses of gateways as they stand in the database. */
export type AddressSeal = {
  seal(gateway: string, address: RelayAddress): string;
  /** The address that a gateway gave itself; `undefined` for anything that it did not. */
  open(gateway: string, sealed: unknown): RelayAddress | undefined;
};

/**
 * Sealed, and for one gateway's name, which is never used again: who can write to the database can take a gateway's
 * address away, but have nobody connect to one of their choice.
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
