import type { SecureVersion, TLSSocket } from "node:tls";
import { connect } from "node:tls";
import type { RelayAddress } from "./sealed-address.js";

/** The PSK identity of every gateway; the key authenticates it. */
const IDENTITY = "countersign relay 1";

/**
 * TLS with a pre-shared key (RFC 4279, RFC 7905), which both sides prove to have. It needs no certificates, and the only cipher requires the key. ECDHE: an attacker who learns
 * the key later cannot decrypt recorded traffic.
 */
const LINK = {
  ciphers: "ECDHE-PSK-CHACHA20-POLY1305",
  minVersion: "TLSv1.2" satisfies SecureVersion,
  maxVersion: "TLSv1.2" satisfies SecureVersion,
} as const;

/** TLS options of a server for gateways that have the key. */
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
    // A pre-shared key replaces the certificate.
    checkServerIdentity: () => undefined,
  });
  // The caller adds its own listener, but a destroyed link may emit an error after the caller has
  // left.
  link.on("error", () => undefined);
  return link;
}
