import { CountersignError } from "@countersign/core";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import "../access/errors.js";
import { clientAddress, createNetworks, isWithin, placeOf } from "./address.js";
import type { ListenLimits } from "./limits.js";

/** Counts what each address has open. */
export type AddressBook = {
  /** Whether a fresh connection may stay; it is counted until it closes. */
  admitConnection(connection: Socket): boolean;
  /** Counts a request that came through a trusted proxy until its end, or throws when there are too many. */
  admitRequest(
    question: Pick<IncomingMessage, "headers" | "socket">,
    end: (done: () => void) => void,
  ): void;
};

/** Makes the book of a listener. */
export function createAddressBook(limits: ListenLimits): AddressBook {
  const trusted = createNetworks(limits.trustedProxies);
  const allowed = limits.connectionsPerAddress;
  const open = new Map<string, number>();

  const take = (address: string): (() => void) | undefined => {
    const place = placeOf(address);
    const count = open.get(place) ?? 0;
    if (count >= allowed) return undefined;
    open.set(place, count + 1);
    return () => {
      const left = (open.get(place) ?? 1) - 1;
      if (left > 0) open.set(place, left);
      else open.delete(place);
    };
  };

  return {
    admitConnection: (connection) => {
      const peer = connection.remoteAddress;
      // Gone before it was looked at.
      if (peer === undefined) return false;
      if (isWithin(trusted, peer)) return true;
      const giveBack = take(peer);
      if (giveBack === undefined) return false;
      connection.once("close", giveBack);
      return true;
    },
    admitRequest: ({ headers, socket }, end) => {
      const peer = socket.remoteAddress;
      if (peer === undefined || !isWithin(trusted, peer)) return;
      const forwarded = headers["x-forwarded-for"];
      const text = Array.isArray(forwarded) ? forwarded.join(",") : forwarded;
      const address = clientAddress(peer, text, trusted);
      if (address === undefined) return;
      const giveBack = take(address);
      if (giveBack === undefined) {
        throw new CountersignError("ERR_ACCESS_ADDRESS", "too many requests of one address", {
          allowed,
        });
      }
      end(giveBack);
    },
  };
}
