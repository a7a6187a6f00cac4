import type { SecureVersion, TLSSocket } from "node:tls";
import { connect } from "node:tls";
import type { RelayAddress } from "./sealed-address.js";

/** What gateways call themselves to each other; who they are is proved by the key. */
const IDENTITY = "countersign relay 1";

/**
 * TLS under a key in common (RFC 4279, RFC 7905), which both sides prove to have: no certificates to hand out, and none
 * that could stand in for the key, since the only cipher there is asks for it. ECDHE: who learns the key later cannot
 * read what was recorded.
 */
const LINK = {
  ciphers: "ECDHE-PSK-CHACHA20-POLY1305",
  minVersion: "TLSv1.2" satisfies SecureVersion,
  maxVersion: "TLSv1.2" satisfies SecureVersion,
} as const;

/** How a gateway lets others in that have the key. */
export function linkServerOptions(key: Uint8Array, handshakeTimeout: number) {
  return {
    ...LINK,
    handshakeTimeout,
    pskCallback: (_socket: TLSSocket, identity: string) => (identity === IDENTITY ? key : null),
  };
}

/** Connects to a gateway that has the key. */
export function openLink({ host, port }: RelayAddress, key: Uint8Array): TLSSocket {
  const link = connect({
    ...LINK,
    host,
    port,
    pskCallback: () => ({ psk: key, identity: IDENTITY }),
    // There is no certificate to look at.
    checkServerIdentity: () => undefined,
  });
  // Whoever uses it hears of it, but one that is let go of may still have an error to tell.
  link.on("error", () => undefined);
  return link;
}
