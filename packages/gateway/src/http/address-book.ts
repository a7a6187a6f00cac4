import { CountersignError } from "@countersign/core";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import "../base/errors.js";
import { clientAddress, createNetworks, forwardedFor, isWithin, networkOf } from "./address.js";
import type { ListenLimits } from "../base/limits.js";

/** Counts the open connections of each address. */
export type AddressBook = {
  /** Whether a new connection is accepted; it is counted, and listed, until it closes. */
  admitConnection(connection: Socket): boolean;
  /** All connections. Node lists neither HTTP/2 sessions nor upgraded sockets as HTTP/1.1 connections. */
  connections(): Iterable<Socket>;
  /** Counts a request from a trusted proxy until it ends, or throws when there are too many. */
  admitRequest(
    request: Pick<IncomingMessage, "headers" | "socket">,
    end: (done: () => void) => void,
  ): void;
};

/** Creates the address book of a listener. */
export function createAddressBook(limits: ListenLimits): AddressBook {
  const trusted = createNetworks(limits.trustedProxies);
  const allowed = limits.connectionsPerAddress;
  const open = new Map<string, number>();
  /** Every connection with the address it counts for; connections of trusted proxies count per request instead. */
  const connections = new Map<Socket, string | undefined>();

  /** Takes a slot of the address; `undefined` if none is free. */
  const take = (address: string): string | undefined => {
    const key = networkOf(address);
    const count = open.get(key) ?? 0;
    if (count >= allowed) return undefined;
    open.set(key, count + 1);
    return key;
  };
  const release = (key: string): void => {
    const left = (open.get(key) ?? 1) - 1;
    if (left > 0) open.set(key, left);
    else open.delete(key);
  };
  // One function for all connections: a thousand idle ones should not hold a thousand closures.
  function forget(this: Socket): void {
    const key = connections.get(this);
    if (key !== undefined) release(key);
    connections.delete(this);
  }

  return {
    admitConnection: (connection) => {
      // Already counted when its request was read for the first time.
      if (connections.has(connection)) return true;
      const peer = connection.remoteAddress;
      // The connection closed before it was accepted.
      if (peer === undefined) return false;
      const isTrusted = isWithin(trusted, peer);
      const key = isTrusted ? undefined : take(peer);
      if (key === undefined && !isTrusted) return false;
      connections.set(connection, key);
      connection.on("close", forget);
      return true;
    },
    connections: () => connections.keys(),
    admitRequest: ({ headers, socket }, end) => {
      const peer = socket.remoteAddress;
      if (peer === undefined || !isWithin(trusted, peer)) return;
      const address = clientAddress(peer, forwardedFor(headers), trusted);
      if (address === undefined) return;
      const key = take(address);
      if (key === undefined) {
        throw new CountersignError(
          "ERR_ACCESS_ADDRESS",
          "too many open requests from one address",
          {
            allowed,
          },
        );
      }
      end(() => release(key));
    },
  };
}
