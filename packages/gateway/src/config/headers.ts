/** A header name (RFC 9110 section 5.6.2). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** A header value (RFC 9110 section 5.5) that Node can send as Latin-1. */
const VALUE = /^[\t -~\u00a0-\u00ff]*$/u;

/** Headers that decide the routing and framing of a message: contradicting values enable request smuggling. */
const RESERVED: ReadonlySet<string> = new Set([
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

/** The problem of a configured header, with a fix; never its value, which may be a secret. */
export function headerProblem(name: string, value: string): string | undefined {
  if (!TOKEN.test(name)) {
    return "this is not a valid header name; use letters, digits and hyphens, such as X-Api-Key";
  }
  if (RESERVED.has(name.toLowerCase()) || /^sec-websocket-/iu.test(name)) {
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
