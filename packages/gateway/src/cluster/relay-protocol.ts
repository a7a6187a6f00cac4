import type { SecureVersion, TLSSocket } from "node:tls";
import { connect } from "node:tls";
import type { RelayAddress } from "./gateway-directory.js";
import { isJsonObject, parseJson } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import type { ResumeRequest } from "../http/resume/resume-request.js";

/** The PSK identity of every gateway; the key authenticates it. */
const IDENTITY = "countersign relay 1";

/**
 * TLS with a pre-shared key (RFC 4279, RFC 7905), which both sides prove to have, and no certificates. ECDHE: an
 * attacker who learns the key later cannot decrypt recorded traffic.
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
  // The caller adds its own listener, but a destroyed link may emit an error after the caller has left.
  link.on("error", () => undefined);
  return link;
}

/** The path of relay requests; its number allows gateways of two versions on one log. */
export const RELAY_PATH = "/relay/1";
/** Maximum bytes of a relay request: a principal has up to 1,300, the agent's name and the stream position little. */
export const MAX_RELAY_REQUEST_BYTES = 16_384;

/** Encodes a relay request. */
export function writeRelayRequest(back: ResumeRequest): string {
  return JSON.stringify(back);
}

/** Decodes a relay request; `undefined` when it is invalid. */
export function readRelayRequest(bytes: Uint8Array): ResumeRequest | undefined {
  const question = parseJson(bytes);
  if (!isJsonObject(question)) return undefined;
  const { lastEventId, agent, holder, returnsForever } = question as JsonObject;
  if (typeof lastEventId !== "string" || typeof agent !== "string") return undefined;
  if (!isJsonObject(holder) || typeof returnsForever !== "boolean") return undefined;
  const { principal, ticket } = holder as JsonObject;
  const shared = { lastEventId, agent, returnsForever };
  if (typeof principal === "string") return { ...shared, holder: { principal } };
  return typeof ticket === "string" ? { ...shared, holder: { ticket } } : undefined;
}
