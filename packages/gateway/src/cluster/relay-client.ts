import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import type { Signal } from "@countersign/core";
import type { ResumeRequest } from "../http/resume/resume-request.js";
import { openLink, RELAY_PATH, writeRelayRequest } from "./relay-protocol.js";
import type { RelayAddress } from "./gateway-directory.js";

/** Milliseconds for the TLS handshake, which proves the key. */
const CONNECT_MS = 2000;
/** Milliseconds for the response headers. */
const ANSWER_MS = 5000;

/** Options of {@link requestStream}. */
export type StreamRequest = {
  readonly key: Uint8Array;
  /** Milliseconds without data after which the link is closed. */
  readonly idleMs: number;
  /** Aborts when the client disconnects. */
  readonly gone: Signal;
};

/** Requests a stream from another gateway. Resolves with the response once its headers arrive, at any status. */
export function requestStream(
  address: RelayAddress,
  back: ResumeRequest,
  { key, idleMs, gone }: StreamRequest,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const link = openLink(address, key);
    const outgoing = request({
      method: "POST",
      path: RELAY_PATH,
      headers: { host: "countersign", "content-type": "application/json" },
      createConnection: () => link,
    });
    const fail = (reason: string) => (): void => void outgoing.destroy(new Error(reason));
    const connecting = setTimeout(fail("no handshake in time"), CONNECT_MS);
    const answering = setTimeout(fail("no answer in time"), ANSWER_MS);
    const settle = (): void => {
      clearTimeout(connecting);
      clearTimeout(answering);
    };
    const leave = fail("the client disconnected");
    if (gone.aborted) leave();
    else gone.addEventListener("abort", leave);
    link.once("secureConnect", () => clearTimeout(connecting));
    outgoing.on("error", (error) => {
      settle();
      reject(error);
    });
    outgoing.once("response", (response) => {
      settle();
      // The other gateway sends heartbeats, so silence means that it is down.
      link.setTimeout(idleMs, fail("the other gateway sent nothing for too long"));
      response.on("error", () => undefined);
      resolve(response);
    });
    outgoing.end(writeRelayRequest(back));
  });
}
