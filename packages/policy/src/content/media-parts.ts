import { parseUrl } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { ContentFinding } from "./finding.js";
import { memberOf } from "./parts.js";
import type { ContentSettings } from "./settings.js";
import { sourceAddressOf } from "./sources.js";

/** Parts that a page loads when it shows them; a document needs a click. */
const LOADED: ReadonlySet<JsonValue> = new Set(["image", "audio", "video"]);

/** A backslash, white space or a control character; and a web scheme without both slashes. */
const MENDED = /[\s\p{C}\\]|^https?:(?!\/\/[^/])/iu;

/** Represents the host of the page; no other host has a name in this zone (RFC 6761). */
const PAGE = "https://page.invalid/";

/**
 * The findings in the media parts of an agent's content: an address of another host loads like an
 * image in a text, and follows the same settings. A part with embedded data, and an address of the
 * page's own host, pass.
 */
export function findInMedia(
  content: JsonValue | undefined,
  pointer: string,
  settings: ContentSettings,
): ContentFinding | undefined {
  if (!Array.isArray(content)) return undefined;
  for (const [index, part] of content.entries()) {
    const kind = kindOf(memberOf(part, "type"), memberOf(part, "source"), settings);
    if (kind !== undefined) return { kind, part: `${pointer}/${index}/source/value` };
  }
  return undefined;
}

function kindOf(
  type: JsonValue | undefined,
  source: JsonValue | undefined,
  { images, imageHosts, links, sources }: ContentSettings,
): ContentFinding["kind"] | undefined {
  const value = memberOf(source, "value");
  if (memberOf(source, "type") !== "url" || typeof value !== "string") return undefined;
  // Programs normalize these differently; no author needs them.
  if (sources && MENDED.test(value) && !value.startsWith("data:")) return "sources";
  const url = parseUrl(value, PAGE);
  if (url?.protocol === "data:" || (url?.origin === new URL(PAGE).origin && url.username === "")) {
    return undefined;
  }
  if (url !== undefined && isListed(url, imageHosts)) return undefined;
  if (sources && sourceAddressOf(source)?.kind === "inside") return "sources";
  if (links && url?.protocol !== "https:" && url?.protocol !== "http:") return "links";
  return images && LOADED.has(type ?? null) ? "images" : undefined;
}

function isListed({ protocol, host, hostname, username }: URL, hosts: readonly string[]): boolean {
  const isWeb = protocol === "https:" || protocol === "http:";
  return isWeb && username === "" && (hosts.includes(host) || hosts.includes(hostname));
}
