import { createByteAccount, measureEvent } from "@countersign/wire/accounting";
import type { ByteRow } from "./report.js";

/** The byte counts of the request and its headers. */
export type ByteFacts = {
  readonly spoken?: ByteRow["transport"];
  /** Bytes of the input's JSON. */
  readonly input: number;
  /** Bytes of the head that each HTTP request repeats. */
  readonly requestHeaders: number;
  readonly preflight: number;
  readonly upgrade: number;
};

/** A typical upgrade without a token, for those who did not speak WebSocket (RFC 6455 §1.3, both directions). */
const UPGRADE_BYTES = 330;

/** Adds up the same events over each transport. */
export class ByteCounter {
  readonly #accounts = {
    "sse-http1": createByteAccount("sse-http1"),
    "sse-http2": createByteAccount("sse-http2"),
    websocket: createByteAccount("websocket-down"),
  };

  add(bytes: number): void {
    for (const account of Object.values(this.#accounts)) account.add(bytes);
  }

  rows(facts: ByteFacts): ByteRow[] {
    return (["sse-http1", "sse-http2", "websocket"] as const).map((transport): ByteRow => {
      const { payload, framing } = this.#accounts[transport].totals();
      const socket = transport === "websocket";
      const request = socket
        ? measureEvent("websocket-up", facts.input).total
        : facts.requestHeaders + facts.input;
      const upgrade = facts.upgrade > 0 ? facts.upgrade : UPGRADE_BYTES;
      return {
        transport,
        measured: transport === facts.spoken,
        setup: socket ? upgrade : facts.preflight,
        request,
        payload,
        framing,
        overheadPercent: payload === 0 ? 0 : Math.round((framing / payload) * 1000) / 10,
        total: request + payload + framing,
      };
    });
  }
}
