import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import type { ResumeRequest } from "../http/resume/resume-request.js";
import type { Signal } from "../base/signal.js";
import { openLink } from "./relay-link.js";
import { RELAY_PATH, writeRelayRequest } from "./relay-request.js";
import type { RelayAddress } from "./sealed-address.js";

/** Milliseconds until the other gateway must have proved that it has the key. */
const CONNECT_MS = 2000;
/** Milliseconds until it must have answered. */
const ANSWER_MS = 5000;

/** How one gateway asks another. */
export type StreamRequest = {
  readonly key: Uint8Array;
  /** Milliseconds after which a link that says nothing is taken for dead. */
  readonly idleMs: number;
  /** Whoever is asked for has gone: nothing is wanted any more. */
  readonly gone: Signal;
};

/** Asks another gateway for a stream; resolves with the head of its answer, whatever that says. */
export function requestStream(
  address: RelayAddress,
  back: ResumeRequest,
  { key, idleMs, gone }: StreamRequest,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const link = openLink(address, key);
    const asked = request({
      method: "POST",
      path: RELAY_PATH,
      headers: { host: "countersign", "content-type": "application/json" },
      createConnection: () => link,
    });
    const fail = (reason: string) => (): void => void asked.destroy(new Error(reason));
    const connecting = setTimeout(fail("no handshake in time"), CONNECT_MS);
    const answering = setTimeout(fail("no answer in time"), ANSWER_MS);
    const settle = (): void => {
      clearTimeout(connecting);
      clearTimeout(answering);
    };
    const leave = fail("nobody waits for it");
    if (gone.aborted) leave();
    else gone.addEventListener("abort", leave);
    link.once("secureConnect", () => clearTimeout(connecting));
    asked.on("error", (error) => {
      settle();
      reject(error);
    });
    asked.once("response", (answer) => {
      settle();
      // Heartbeats come through: silence is a machine that is gone.
      link.setTimeout(idleMs, fail("the link fell silent"));
      answer.on("error", () => undefined);
      resolve(answer);
    });
    asked.end(writeRelayRequest(back));
  });
}
