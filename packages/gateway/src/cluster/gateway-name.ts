import { randomBytes } from "node:crypto";
import { hostname } from "node:os";

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
