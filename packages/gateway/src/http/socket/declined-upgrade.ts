import type { IncomingMessage } from "node:http";
import type { Server } from "node:net";
import { TLSSocket } from "node:tls";
import type { Duplex } from "node:stream";

/** Headers that only make sense with the offered protocol. */
const OFFER = new Set(["upgrade", "http2-settings"]);

/** Whether a plaintext request offers a protocol that the gateway does not support; over TLS, ALPN negotiates it. */
export function isDeclined({ headers, socket }: IncomingMessage): boolean {
  const offered = (headers.upgrade ?? "").toLowerCase().split(",");
  return (
    !(socket instanceof TLSSocket) && !offered.some((protocol) => protocol.trim() === "websocket")
  );
}

/** Whether a request has a body. A WebSocket handshake has none, and Node versions differ in how they detect one. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers["content-length"] ?? "0";
  return headers["transfer-encoding"] !== undefined || !/^0+$/u.test(length);
}

/**
 * Has Node parse a request again without its upgrade offer, which a server may always ignore (RFC 9110, section 7.8).
 *
 * Java's HTTP client offers HTTP/2 with its first request to every plaintext URL. Node before 24.9 emits `upgrade`
 * for every such request, with its body unread, so the head is put back in front of the body without the offer. Newer
 * versions ask first (`shouldUpgradeCallback`), and since version 26 have read some of the body by then.
 */
export function readAgain(
  server: Server,
  request: IncomingMessage,
  connection: Duplex,
  head: Buffer,
): void {
  const { method, url, httpVersion, rawHeaders } = request;
  let text = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    const value = rawHeaders[index + 1] as string;
    if (OFFER.has(name.toLowerCase())) continue;
    text += `${name}: ${name.toLowerCase() === "connection" ? withoutOffer(value) : value}\r\n`;
  }
  connection.unshift(Buffer.concat([Buffer.from(`${text}\r\n`, "latin1"), head]));
  server.emit("connection", connection);
}

function withoutOffer(tokens: string): string {
  const kept = tokens.split(",").filter((token) => !OFFER.has(token.trim().toLowerCase()));
  return kept.length === 0 ? "keep-alive" : kept.join(",");
}
