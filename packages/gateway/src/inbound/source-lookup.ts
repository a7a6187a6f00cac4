import { lookup } from "node:dns/promises";
import { BlockList, isIPv4 } from "node:net";
import { within } from "../base/within.js";

/** Resolves the addresses of a host; rejects if it has none. */
export type LookupHost = (host: string) => Promise<readonly string[]>;

/** The number of host names that one request may have resolved; content parts at further hosts are refused. */
const MAX_HOSTS = 16;
/** A host name that takes longer counts as not public. */
const MAX_LOOKUP_MS = 2_000;
/** The number of concurrent lookups in the gateway, including those that no request awaits any more. */
const MAX_LOOKUPS = 256;

/** Address ranges outside the public internet, from the IANA special-purpose registries. */
const INSIDE = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const) {
  INSIDE.addSubnet(network, prefix, "ipv4");
}
/** Public IPv6 is 2000::/3 without Teredo and 6to4, which hold an IPv4 address, ORCHID and documentation. */
const PUBLIC_IPV6 = new BlockList();
PUBLIC_IPV6.addSubnet("2000::", 3, "ipv6");
for (const [network, prefix] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const) {
  INSIDE.addSubnet(network, prefix, "ipv6");
}

/** Whether an address is on the public internet; mapped, translated and tunnelled addresses are not. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !INSIDE.check(address, "ipv4");
  return PUBLIC_IPV6.check(address, "ipv6") && !INSIDE.check(address, "ipv6");
}

/** Returns the hosts all of whose addresses are public. A host that does not resolve in time is not among them. */
export async function findPublicHosts(
  hosts: ReadonlySet<string>,
  lookupHost: LookupHost,
  longestMs = MAX_LOOKUP_MS,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  if (hosts.size === 0) return found;
  const lookups = [...hosts].slice(0, MAX_HOSTS).map(async (host) => {
    try {
      const addresses = await lookupHost(host);
      if (addresses.length > 0 && addresses.every(isPublicAddress)) found.add(host);
    } catch {
      // A host that does not resolve is not public.
    }
  });
  await within(Promise.all(lookups), longestMs);
  return new Set(found);
}

let pending = 0;

/** Uses the system resolver, as an agent on the same machine would. */
export const SYSTEM_LOOKUP: LookupHost = async (host) => {
  if (pending >= MAX_LOOKUPS) throw new Error("too many lookups at once");
  pending += 1;
  try {
    const addresses = await lookup(host, { all: true });
    return addresses.map(({ address }) => address);
  } finally {
    pending -= 1;
  }
};
