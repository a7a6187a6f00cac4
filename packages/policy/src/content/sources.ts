import { parseUrl } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import tlds from "tlds" with { type: "json" };
import { memberOf } from "./parts.js";

/**
 * Zones without a registry, and those that networks use internally although they could be delegated
 * one day.
 */
const INSIDE =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|lan|home|corp|mail|private|arpa|onion|test|invalid)$/;
/** Public zones whose names resolve to the address in the name, or to the local machine. */
const MIRRORS =
  /(?:^|\.)(?:nip\.io|sslip\.io|xip\.io|localtest\.me|lvh\.me|vcap\.me|lacolhost\.com|traefik\.me|local\.gd|fuf\.me|1u\.ms|rbndr\.us|ts\.net|ip6\.name|ipq\.co|backname\.io|local-ip\.(?:co|sh)|localhost\.direct|plex\.direct|smackaho\.st)$/;
/** An IPv4 address in a name, as some providers write it (`ip-10-0-0-5`). */
const EMBEDDED = /(?:^|[.-])(\d{1,3})[.-](\d{1,3})[.-]\d{1,3}[.-]\d{1,3}(?=[.-])/g;
/**
 * A label that is an IPv6 address with dashes for colons (`fd00--1`); an `x` represents an empty
 * end.
 */
const EMBEDDED_IPV6 =
  /^(?=.*--|(?:[^-]*-){7}[^-]*$)(x|[\da-f]{0,4})(?:-{1,2}[\da-f]{1,4}){0,7}-{0,2}x?$/;
/**
 * First groups of non-global addresses: nothing or zero, 64:ff9b, 6to4, unique local, link local,
 * multicast.
 */
const INSIDE_IPV6 = /^(?:x|0{0,4}|0{0,2}64|2002|f[cdf].*|fe[89ab].*)$/;
/** For documentation and tests; no registry has it. */
const EXAMPLE = "example";

/** Top-level domains in the form of a parsed address. */
const PUBLIC: ReadonlySet<string> = new Set(
  [...tlds, EXAMPLE].map((name) =>
    /^[a-z]+$/.test(name) ? name : new URL(`http://a.${name}`).hostname.slice(2),
  ),
);

/**
 * The accepted form of a web address. `URL` normalizes addresses, and other programs normalize them
 * differently: for `http://a.com\\@10.0.0.1/` a browser asks `a.com`, curl and Python ask
 * `10.0.0.1`. So no address that needs normalizing passes: no backslash, white space or control
 * character anywhere, both slashes, and a host of whole labels. Without a slash after the host
 * there is no `@`: older parsers read the text after it as the host (`https://a.com#@10.0.0.1/`).
 */
const WRITTEN =
  /^https?:\/\/[^\s\p{C}\\/?#@:.%]+(?:\.[^\s\p{C}\\/?#@:.%]+)*\.?(?::\d{1,5})?(?:\/[^\s\p{C}\\]*|[?#][^\s\p{C}\\@]*)?$/iu;
/**
 * The host for a parser that searches the last `@`. Versions (`@10.0.1`) and accounts (`@name`) do
 * not match.
 */
const BEHIND_AT = /@(\d+\.\d+\.\d+\.\d+|\[[^\]]*\]|[^/?#@:]+)/gu;

/** The known facts about the address of a content part, without a lookup. */
export type SourceAddress =
  /** An address of the agent's internal network, or not a web address. */
  | { readonly kind: "inside" }
  /** A public name; its address is known only after a lookup. */
  | { readonly kind: "name"; readonly host: string };

/** The address of a content part's source; `undefined` if nothing is fetched. */
export function sourceAddressOf(source: JsonValue | undefined): SourceAddress | undefined {
  if (memberOf(source, "type") !== "url") return undefined;
  const value = memberOf(source, "value");
  const url = typeof value === "string" ? parseUrl(value) : undefined;
  if (url === undefined) return { kind: "inside" };
  if (url.protocol === "data:") return undefined;
  const host = url.hostname.replace(/\.$/, "");
  const isPlain = typeof value === "string" && WRITTEN.test(value) && !namesInside(value);
  return isPlain && isPublicName(host) ? { kind: "name", host } : { kind: "inside" };
}

/** Whether an IP address or an internal name follows an `@` anywhere in an address. */
function namesInside(address: string): boolean {
  return Array.from(address.matchAll(BEHIND_AT), ([, host = ""]) => host.toLowerCase()).some(
    (host) => /^(?:\d+(?:\.\d+){3}$|\[)/.test(host) || INSIDE.test(host) || MIRRORS.test(host),
  );
}

/**
 * Whether a name, as `URL` writes it, ends in a top-level domain and is not internal by its form.
 * `URL` has already turned every notation of an IPv4 address (`0x7f.1`, `017700000001`,
 * `2130706433`) into four numbers.
 */
function isPublicName(host: string): boolean {
  const labels = host.split(".");
  if (labels.length < 2 || !PUBLIC.has(labels.at(-1) ?? "")) return false;
  if (INSIDE.test(host) || MIRRORS.test(host)) return false;
  for (const [, first, second] of host.matchAll(EMBEDDED)) {
    if (isInsideIPv4(Number(first), Number(second))) return false;
  }
  return !labels.some((label) => {
    const [, first] = EMBEDDED_IPV6.exec(label) ?? [];
    return first !== undefined && INSIDE_IPV6.test(first);
  });
}

function isInsideIPv4(first: number, second: number): boolean {
  if (first === 0 || first === 10 || first === 127 || first >= 224) return true;
  if (first === 100) return second >= 64 && second < 128;
  if (first === 169) return second === 254;
  if (first === 172) return second >= 16 && second < 32;
  return first === 192 && second === 168;
}

/**
 * Roles of a client's own messages; the rest of a history is the agent's, and is compared with the
 * delivered messages.
 */
const SPEAKERS: ReadonlySet<JsonValue> = new Set(["user", "tool"]);

/**
 * The contents of a client's own messages in a request, by message index; `null` for the agent's.
 */
export function contentsOf(input: JsonObject): readonly JsonValue[] {
  const messages = memberOf(input, "messages");
  return (Array.isArray(messages) ? messages : []).map((message) =>
    SPEAKERS.has(memberOf(message, "role") ?? null) ? (memberOf(message, "content") ?? null) : null,
  );
}

/**
 * The public names from which an agent would fetch content parts of a request, without duplicates.
 */
export function sourceHostsOf(input: JsonObject): ReadonlySet<string> {
  const hosts = new Set<string>();
  for (const content of contentsOf(input)) {
    for (const part of Array.isArray(content) ? content : []) {
      const address = sourceAddressOf(memberOf(part, "source"));
      if (address?.kind === "name") hosts.add(address.host);
    }
  }
  return hosts;
}
