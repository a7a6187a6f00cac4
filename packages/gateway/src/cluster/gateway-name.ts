import { randomBytes } from "node:crypto";
import { hostname } from "node:os";

/** Characters of a host's name that are kept; a pod has up to 63. */
const MAX_HOST = 63;

/** Random bytes of a name. */
const OWN_BYTES = 4;

/**
 * The name of one process among the gateways of a log: its host's, which operators know, and something of its own,
 * since two may share a host and one that starts again is not the one that was there before.
 */
export function createGatewayName(host: string = hostname()): string {
  const readable = host.replaceAll(/[^A-Za-z0-9.-]/gu, "-").slice(0, MAX_HOST);
  return `${readable === "" ? "gateway" : readable}-${randomBytes(OWN_BYTES).toString("hex")}`;
}

/** What tells a gateway's name apart from all others, without its host. */
export function tagOf(name: string): string {
  return name.slice(-2 * OWN_BYTES);
}
