import { parseUrl } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import tlds from "tlds" with { type: "json" };
import { memberOf } from "./parts.js";

/** Zones without a registry, and those that networks use for themselves although they could be delegated one day. */
const INSIDE =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|lan|home|corp|mail|private|arpa|onion|test|invalid)$/;
/** Public zones whose names lead to whatever address stands in the name, or to the machine that asks. */
const MIRRORS =
  /(?:^|\.)(?:nip\.io|sslip\.io|xip\.io|localtest\.me|lvh\.me|vcap\.me|lacolhost\.com|traefik\.me|local\.gd|fuf\.me|1u\.ms|rbndr\.us|ts\.net|ip6\.name|ipq\.co|backname\.io|local-ip\.(?:co|sh)|localhost\.direct|plex\.direct|smackaho\.st)$/;
/** An IPv4 address in a name, as some providers write it (`ip-10-0-0-5`). */
const EMBEDDED = /(?:^|[.-])(\d{1,3})[.-](\d{1,3})[.-]\d{1,3}[.-]\d{1,3}(?=[.-])/g;
/** A label that is an IPv6 address with dashes for colons (`fd00--1`); an `x` stands for an end that would be empty. */
const EMBEDDED_IPV6 =
  /^(?=.*--|(?:[^-]*-){7}[^-]*$)(x|[\da-f]{0,4})(?:-{1,2}[\da-f]{1,4}){0,7}-{0,2}x?$/;
/** First groups of addresses that are not global: nothing or zero, 64:ff9b, 6to4, unique local, link local, multicast. */
const INSIDE_IPV6 = /^(?:x|0{0,4}|0{0,2}64|2002|f[cdf].*|fe[89ab].*)$/;
/** For documentation and tests; no registry has it. */
const EXAMPLE = "example";

/** Top-level domains as a parsed address has them. */
const PUBLIC: ReadonlySet<string> = new Set(
  [...tlds, EXAMPLE].map((name) =>
    /^[a-z]+$/.test(name) ? name : new URL(`http://a.${name}`).hostname.slice(2),
  ),
);

/**
 * How a web address has to be written. `URL` mends addresses, and other programs mend them in other ways: of
 * `http://a.com\\@10.0.0.1/` a browser asks `a.com`, curl and Python ask `10.0.0.1`. So nothing that is mended passes:
 * no backslash, white space or control character anywhere, both slashes, and a host of whole labels. Without a slash behind
 * the host there is no `@`: older parsers take what follows it for the host (`https://a.com#@10.0.0.1/`).
 */
const WRITTEN =
  /^https?:\/\/[^\s\p{C}\\/?#@:.%]+(?:\.[^\s\p{C}\\/?#@:.%]+)*\.?(?::\d{1,5})?(?:\/[^\s\p{C}\\]*|[?#][^\s\p{C}\\@]*)?$/iu;
/** What a parser that looks for the last `@` would take for the host. Versions (`@10.0.1`) and accounts (`@name`) are none. */
const BEHIND_AT = /@(\d+\.\d+\.\d+\.\d+|\[[^\]]*\]|[^/?#@:]+)/gu;

/** What is known of the address of a content part without asking anybody. */
export type SourceAddress =
  /** Only a machine inside the agent's network can mean it, or it is no web address. */
  | { readonly kind: "inside" }
  /** A public name; where it leads is known only once it is resolved. */
  | { readonly kind: "name"; readonly host: string };

/** The address of a content part's source; `undefined` where nothing is fetched. */
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

/** Whether an IP address or a name of a network inside stands behind an `@` anywhere in an address. */
function namesInside(address: string): boolean {
  return Array.from(address.matchAll(BEHIND_AT), ([, host = ""]) => host.toLowerCase()).some(
    (host) => /^(?:\d+(?:\.\d+){3}$|\[)/.test(host) || INSIDE.test(host) || MIRRORS.test(host),
  );
}

/**
 * Whether a name, as `URL` writes it, ends in a top-level domain and leads nowhere inside by what it says. `URL` has
 * turned every notation of an IPv4 address (`0x7f.1`, `017700000001`, `2130706433`) into four numbers by then.
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

/** What a client says itself; the rest of a history is the agent's, and is held against what was delivered. */
const SPEAKERS: ReadonlySet<JsonValue> = new Set(["user", "tool"]);

/** The contents of what a client says itself in a request, by the index of the message; `null` for the agent's. */
export function contentsOf(input: JsonObject): readonly JsonValue[] {
  const messages = memberOf(input, "messages");
  return (Array.isArray(messages) ? messages : []).map((message) =>
    SPEAKERS.has(memberOf(message, "role") ?? null) ? (memberOf(message, "content") ?? null) : null,
  );
}

/** The public names from which an agent would fetch content parts of a request, each once. */
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
