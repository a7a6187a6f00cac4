import type { IncomingHttpHeaders } from "node:http";
import { BlockList, isIPv4, isIPv6 } from "node:net";
import type { ListenLimits } from "../base/limits.js";

/** Parses networks such as `10.0.0.0/8`, or single addresses. */
export function createNetworks(texts: readonly string[]): BlockList {
  const networks = new BlockList();
  for (const text of texts) {
    const [address = "", bits] = text.split("/");
    if (!isNetwork(text)) throw new TypeError(`${text} is no network`);
    const family = isIPv4(address) ? "ipv4" : "ipv6";
    if (bits === undefined) networks.addAddress(address, family);
    else networks.addSubnet(address, Number(bits), family);
  }
  return networks;
}

/** Whether a text is a network or an address. */
export function isNetwork(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  if (rest.length > 0 || (!isIPv4(address) && !isIPv6(address))) return false;
  const most = isIPv4(address) ? 32 : 128;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
}

/** Whether an address is in one of the networks. */
export function isWithin(networks: BlockList, address: string): boolean {
  const plain = plainAddress(address);
  if (isIPv4(plain)) return networks.check(plain, "ipv4");
  return isIPv6(plain) && networks.check(plain, "ipv6");
}

/**
 * The address of the client: the peer's, or the one that a trusted proxy reports.
 *
 * The list is read from its end, where the nearest proxy writes: entries before the first untrusted address were
 * written by the client. `undefined` when a proxy sends a request of its own.
 */
export function clientAddress(
  peer: string,
  forwarded: string | undefined,
  trusted: BlockList,
): string | undefined {
  if (!isWithin(trusted, peer)) return plainAddress(peer);
  for (const entry of (forwarded ?? "").split(",").toReversed()) {
    const address = plainAddress(withoutPort(entry.trim()));
    if (!isIPv4(address) && !isIPv6(address)) return undefined;
    if (!isWithin(trusted, address)) return address;
  }
  return undefined;
}

/** The parts of a request that say where it comes from. */
export type AddressedRequest = {
  readonly headers: IncomingHttpHeaders;
  readonly socket: { readonly remoteAddress?: string | undefined };
};

/**
 * Creates a reader of client addresses. A trusted proxy that names no client is the client itself; a connection that
 * closed has no address.
 */
export function createAddressReader({
  trustedProxies,
}: Pick<ListenLimits, "trustedProxies">): (request: AddressedRequest) => string | undefined {
  const trusted = createNetworks(trustedProxies);
  return ({ headers, socket }) => {
    const peer = socket.remoteAddress;
    if (peer === undefined) return undefined;
    return clientAddress(peer, forwardedFor(headers), trusted) ?? plainAddress(peer);
  };
}

/** All values of the header `X-Forwarded-For` in one list. */
export function forwardedFor(headers: IncomingHttpHeaders): string | undefined {
  const forwarded = headers["x-forwarded-for"];
  return Array.isArray(forwarded) ? forwarded.join(",") : forwarded;
}

/** The unit that limits count: an IPv4 address, or a /64 of IPv6, which one customer gets. */
export function networkOf(address: string): string {
  const plain = plainAddress(address);
  if (!isIPv6(plain)) return plain;
  const [head = "", tail] = plain.split("::");
  const front = head === "" ? [] : head.split(":");
  const back = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  const groups = [...front, ...Array.from({ length: zeros }, () => "0"), ...back];
  return groups
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ""))
    .join(":");
}

/** Some proxies append the client's port; an entry that cannot be parsed would escape the limit. */
function withoutPort(entry: string): string {
  const [, v6, v4] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(entry) ?? [];
  return v6 ?? v4 ?? entry;
}

/** Node writes IPv4 peers of a dual-stack socket as `::ffff:1.2.3.4`. */
function plainAddress(address: string): string {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1];
  const [plain = ""] = (mapped ?? address).split("%");
  return plain;
}
