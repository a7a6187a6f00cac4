/** Field names as RFC 9110 section 5.6.2 lets them be. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** What a field may hold (RFC 9110 section 5.5), and a Latin-1 connection can carry. */
const VALUE = /^[\t -~\u00a0-\u00ff]*$/u;

/** Fields that say where a message goes and where it ends: two that disagree are how requests are smuggled. */
const OURS: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** What is wrong with a header of the configuration, with a remedy; never its value, which may be a secret. */
export function headerProblem(name: string, value: string): string | undefined {
  if (!TOKEN.test(name)) {
    return "this is no name of a header; use letters, digits and hyphens, such as X-Api-Key";
  }
  if (OURS.has(name.toLowerCase()) || /^sec-websocket-/iu.test(name)) {
    return `the gateway sets ${name} itself; remove it here`;
  }
  if (/[\r\n]$/u.test(value)) {
    return `the value of ${name} ends in a line break; remove it where the value is set (printf '%s', not echo)`;
  }
  if (/[\r\n]/u.test(value)) return `the value of ${name} has a line break in it; write one line`;
  if (!VALUE.test(value)) {
    return `the value of ${name} has characters that no header can carry; encode them, as Base64 for example`;
  }
  return undefined;
}
