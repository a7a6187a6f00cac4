import { lookup } from "node:dns/promises";
import { BlockList, isIPv4 } from "node:net";

/** The addresses of a host; rejects where it has none. */
export type LookupHost = (host: string) => Promise<readonly string[]>;

/** Names of one request that are looked up; content parts at any further name are refused. */
const MOST_HOSTS = 16;
/** A name that takes longer leads nowhere. */
const LONGEST_LOOKUP_MS = 2_000;
/** Lookups of the whole gateway at once, those that nobody waits for any more included. */
const MOST_LOOKUPS = 256;

/** Ranges that are not on the public internet, after the registries of IANA for special purposes. */
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
/** Public IPv6 is 2000::/3 without these: Teredo and 6to4, which hold an IPv4 address, ORCHID and documentation. */
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

/** Whether an address is on the public internet; mapped, translated and tunnelled ones are not. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !INSIDE.check(address, "ipv4");
  return PUBLIC_IPV6.check(address, "ipv6") && !INSIDE.check(address, "ipv6");
}

/** The hosts all of whose addresses are public; what is not known in time is not among them. */
export async function findPublicHosts(
  hosts: ReadonlySet<string>,
  lookupHost: LookupHost,
  longestMs = LONGEST_LOOKUP_MS,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  if (hosts.size === 0) return found;
  const lookups = [...hosts].slice(0, MOST_HOSTS).map(async (host) => {
    try {
      const addresses = await lookupHost(host);
      if (addresses.length > 0 && addresses.every(isPublicAddress)) found.add(host);
    } catch {
      // A name that leads nowhere is not public.
    }
  });
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, longestMs);
  });
  await Promise.race([Promise.all(lookups), deadline]);
  clearTimeout(timer);
  return new Set(found);
}

let pending = 0;

/** Asks the machine's own resolver, as an agent beside the gateway would. */
export const SYSTEM_LOOKUP: LookupHost = async (host) => {
  if (pending >= MOST_LOOKUPS) throw new Error("too many lookups at once");
  pending += 1;
  try {
    const addresses = await lookup(host, { all: true });
    return addresses.map(({ address }) => address);
  } finally {
    pending -= 1;
  }
};
