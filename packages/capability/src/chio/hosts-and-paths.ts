import { parseUrl } from "@countersign/core";
const SCHEME = /^[a-z][a-z0-9+.-]*:\S/i;
const TWO_SLASHES = /^[/\\]{2}/;
const BARE_DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}\.?$/i;
const IGNORED_BY_BROWSERS = /^[\p{Cc} ]+|[\t\n\r]/gu;

/**
 * The host of an address: `undefined` for a text that is not an address, the empty string for an
 * address without a host (`javascript:…`), which no list of domains allows.
 */
export function hostOf(text: string): string | undefined {
  // Browsers remove these characters before they parse an address: for them `java\tscript:` is an
  // address.
  const seen = text.replace(IGNORED_BY_BROWSERS, "");
  if (BARE_DOMAIN.test(seen)) return trimDot(seen.toLowerCase());
  if (!SCHEME.test(seen) && !TWO_SLASHES.test(seen)) return undefined;
  return trimDot(parseUrl(seen, "https://base.invalid/")?.hostname.toLowerCase() ?? "");
}

const SCHEME_LENGTH = 32;
const ENOUGH_FOR_A_HOST = 1024;
const IN_ADDRESS = /[^\s<>"'`()[\]]*/y;
const USER_PART = /^[^/?#\\]*@/;

/**
 * The hosts of the links a client would show for a text: addresses inside it, and names that a
 * client completes (`evil.example/login`). They can only deny a token, never allow it.
 */
export function hostsWithin(text: string): string[] {
  const hosts: string[] = [];
  for (let at = text.indexOf("://"); at >= 0; at = text.indexOf("://", at)) {
    const scheme = /[a-z][a-z0-9+.-]*$/i.exec(text.slice(Math.max(0, at - SCHEME_LENGTH), at));
    IN_ADDRESS.lastIndex = at;
    const rest = IN_ADDRESS.exec(text)?.[0] ?? "";
    if (scheme !== null) hosts.push(hostOf(scheme[0] + rest) ?? "");
    at += rest.length;
  }
  const completed = completedHost(text);
  return completed === undefined ? hosts : [...hosts, completed];
}

function completedHost(text: string): string | undefined {
  // A host has at most 253 characters; the rest does not matter.
  const seen = text.slice(0, ENOUGH_FOR_A_HOST).replace(IGNORED_BY_BROWSERS, "").trimEnd();
  // A mail address is not a page address.
  if (/\s/.test(seen) || SCHEME.test(seen) || USER_PART.test(seen)) return undefined;
  const host = parseUrl(`https://${seen}`)?.hostname ?? "";
  return BARE_DOMAIN.test(host) ? trimDot(host) : undefined;
}

/** `*` stands for one label, a leading `**` for one or more. */
export function matchesDomain(host: string, pattern: string): boolean {
  const labels = host.split(".");
  const wanted = trimDot(pattern.toLowerCase()).split(".");
  if (wanted[0] === "**") {
    const tail = wanted.slice(1);
    return labels.length > tail.length && sameLabels(labels.slice(-tail.length || undefined), tail);
  }
  return labels.length === wanted.length && sameLabels(labels, wanted);
}

/** Whether a string looks like a path and not like an address. */
export function isPathLike(text: string): boolean {
  return (
    /^(?:[/\\]|\.{1,2}[/\\]|~[/\\]|[A-Za-z]:[/\\])/.test(text) || /^[^\s:]+[/\\][^\s]*$/.test(text)
  );
}

/** By segment, so that `/tmp` does not cover `/tmpfile`; a path with `..` is never covered. */
export function startsWithPath(path: string, prefix: string): boolean {
  const segments = path.split(/[/\\]/);
  const wanted = prefix.replace(/[/\\]+$/, "").split(/[/\\]/);
  return !segments.includes("..") && wanted.every((segment, index) => segments[index] === segment);
}

function sameLabels(labels: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((label, index) => label === "*" || label === labels[index]);
}

function trimDot(host: string): string {
  return host.endsWith(".") ? host.slice(0, -1) : host;
}
