import { parseJson } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { decodeTextFrame } from "@countersign/wire/websocket";
import type { Duplex } from "node:stream";
import type { RawData, WebSocket } from "ws";
import { MAX_TOKEN_LENGTH } from "../../access/access.js";

/** A message as the `ws` library delivers it. */
export type SocketMessage = { readonly data: RawData; readonly isBinary: boolean };

/** The token of the first frame, and messages that arrived with it. */
export type Greeting = { readonly token: string; readonly early: readonly SocketMessage[] };

/** Bytes that a client may send before it authenticates: a token and its frame. */
export const MAX_GREETING_BYTES = 2 * MAX_TOKEN_LENGTH;

/**
 * Waits for `{"type":"AUTH","token":…}` as the first frame.
 *
 * Nothing else is parsed before it and little is buffered: the bytes of the connection are counted, because a frame
 * may be as large as an input. Rejects without a reason to report when it does not arrive.
 */
export function awaitGreeting(
  socket: WebSocket,
  connection: Duplex,
  timeoutMs: number,
): Promise<Greeting | undefined> {
  return new Promise((resolve) => {
    const early: SocketMessage[] = [];
    let token: string | undefined;
    let bytes = 0;
    const settle = (greeting: Greeting | undefined): void => {
      clearTimeout(timer);
      connection.off("data", count);
      socket.off("message", receive);
      socket.off("close", leave);
      resolve(greeting);
    };
    const leave = (): void => settle(undefined);
    const count = (chunk: Uint8Array): void => {
      bytes += chunk.byteLength;
      if (token === undefined && bytes > MAX_GREETING_BYTES) leave();
    };
    const receive = (data: RawData, isBinary: boolean): void => {
      if (token !== undefined) {
        early.push({ data, isBinary });
        return;
      }
      token = isBinary ? undefined : tokenOf(data.toString());
      if (token === undefined) return leave();
      // Messages in the same chunk are passed on; the rest waits until the client is authenticated.
      const greeting = { token, early };
      socket.pause();
      queueMicrotask(() => settle(greeting));
    };
    const timer = setTimeout(leave, timeoutMs);
    connection.on("data", count);
    socket.on("message", receive);
    socket.once("close", leave);
  });
}

/** The token of an AUTH frame; `undefined` for anything else. */
export function tokenOf(text: string): string | undefined {
  if (text.length > MAX_GREETING_BYTES) return undefined;
  try {
    return tokenIn(parseJson(decodeTextFrame(text)[0] ?? "", { maxDepth: 2 }));
  } catch {
    // The cause would contain an offset inside a secret.
    return undefined;
  }
}

/** The token of a parsed AUTH frame; `undefined` for anything else. */
export function tokenIn(value: JsonValue): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { type, token } = value as { type?: JsonValue; token?: JsonValue };
  return type === "AUTH" && typeof token === "string" && token !== "" ? token : undefined;
}
