import { CountersignError } from "@countersign/core";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import "../access/errors.js";
import { clientAddress, createNetworks, isWithin, placeOf } from "./address.js";
import type { ListenLimits } from "../base/limits.js";

/** Counts what each address has open. */
export type AddressBook = {
  /** Whether a fresh connection may stay; it is counted, and listed, until it closes. */
  admitConnection(connection: Socket): boolean;
  /** HTTP/2 sessions and upgraded sockets are no HTTP/1.1 connections: only this list has them all. */
  connections(): Iterable<Socket>;
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
  /** Every connection, with the place it counts for; what comes through a trusted proxy counts by request. */
  const connections = new Map<Socket, string | undefined>();

  /** The place that is taken, if there was room. */
  const take = (address: string): string | undefined => {
    const place = placeOf(address);
    const count = open.get(place) ?? 0;
    if (count >= allowed) return undefined;
    open.set(place, count + 1);
    return place;
  };
  const giveBack = (place: string): void => {
    const left = (open.get(place) ?? 1) - 1;
    if (left > 0) open.set(place, left);
    else open.delete(place);
  };
  // One function for all connections: a thousand that wait should not hold a thousand.
  function forget(this: Socket): void {
    const place = connections.get(this);
    if (place !== undefined) giveBack(place);
    connections.delete(this);
  }

  return {
    admitConnection: (connection) => {
      // Known from a first reading of its request, and counted.
      if (connections.has(connection)) return true;
      const peer = connection.remoteAddress;
      // Gone before it was looked at.
      if (peer === undefined) return false;
      const isTrusted = isWithin(trusted, peer);
      const place = isTrusted ? undefined : take(peer);
      if (place === undefined && !isTrusted) return false;
      connections.set(connection, place);
      connection.on("close", forget);
      return true;
    },
    connections: () => connections.keys(),
    admitRequest: ({ headers, socket }, end) => {
      const peer = socket.remoteAddress;
      if (peer === undefined || !isWithin(trusted, peer)) return;
      const forwarded = headers["x-forwarded-for"];
      const text = Array.isArray(forwarded) ? forwarded.join(",") : forwarded;
      const address = clientAddress(peer, text, trusted);
      if (address === undefined) return;
      const place = take(address);
      if (place === undefined) {
        throw new CountersignError("ERR_ACCESS_ADDRESS", "too many requests of one address", {
          allowed,
        });
      }
      end(() => giveBack(place));
    },
  };
}
