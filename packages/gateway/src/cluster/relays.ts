import { CountersignError } from "@countersign/core";
import type { IncomingMessage } from "node:http";
import { createHttpSink } from "../http/http-sink.js";
import type { HttpResponse } from "../http/exchange.js";
import type { ResumeRequest, ResumeElsewhere } from "../http/resume/resume-request.js";
import { readPlace } from "../http/resume/resume-request.js";
import type { Journal } from "../base/journal.js";
import type { Signal } from "../base/signal.js";
import type { Telemetry } from "../telemetry/telemetry.js";
import { SESSION_HEADER } from "../agent/session-header.js";
import { requestStream } from "./relay-client.js";
import "../http/errors.js";
import type { StreamNames } from "./stream-names.js";
import type { FoundGateway } from "./gateway-directory.js";

/** What a gateway needs to pass on streams of others. */
export type RelayOptions = {
  /** 32 bytes that all gateways of the log have, and nobody else. */
  readonly key: Uint8Array;
  readonly names: StreamNames;
  /** Finds a gateway by the tag in a stream's name. */
  find(tag: string): Promise<FoundGateway | undefined>;
};

/** What is told of them, and how many there may be. */
export type RelayContext = {
  readonly telemetry: Pick<Telemetry, "relays">;
  readonly journal: Journal;
  readonly allowed: number;
  readonly idleMs: number;
};

/** Streams that other gateways have and whose clients came here. */
export class Relays implements ResumeElsewhere {
  readonly #options: RelayOptions;
  readonly #context: RelayContext;

  constructor(options: RelayOptions, context: RelayContext) {
    this.#options = options;
    this.#context = context;
  }

  /**
   * Has the gateway that has a stream go on with it through this one. Resolves with whether one does, once it has
   * begun, or nobody waits for it any more; the stream then goes on for as long as both ends do.
   *
   * @throws CountersignError `ERR_STREAM_UNREACHABLE`, `ERR_STREAM_RELAYS`
   */
  async passOn(back: ResumeRequest, response: HttpResponse, gone: Signal): Promise<boolean> {
    const tag = this.#options.names.gatewayOf(readPlace(back.lastEventId)?.key ?? "");
    if (tag === undefined) return false;
    const { telemetry, allowed } = this.#context;
    if (telemetry.relays.open >= allowed) {
      telemetry.relays.results.add("full");
      const message = "too many streams of other gateways are open";
      throw new CountersignError("ERR_STREAM_RELAYS", message, { allowed });
    }
    telemetry.relays.open += 1;
    let stream: IncomingMessage | undefined;
    try {
      stream = await this.#open(tag, back, gone);
    } finally {
      if (stream === undefined) telemetry.relays.open -= 1;
    }
    if (stream === undefined) return gone.aborted;
    const release = (): void => void (telemetry.relays.open -= 1);
    if (stream.closed) release();
    else stream.once("close", release);
    telemetry.relays.results.add("taken");
    passThrough(stream, response, gone);
    return true;
  }

  /** The rest of a stream; `undefined` where no gateway has it. */
  async #open(
    tag: string,
    back: ResumeRequest,
    gone: Signal,
  ): Promise<IncomingMessage | undefined> {
    const { key } = this.#options;
    const { results } = this.#context.telemetry.relays;
    const { idleMs } = this.#context;
    let gateway: FoundGateway | undefined;
    let stream: IncomingMessage;
    try {
      // This gateway is not among the others: its own streams are known here, or gone.
      gateway = await this.#options.find(tag);
      if (gateway === undefined) {
        results.add("gone");
        return undefined;
      }
      stream = await requestStream(gateway.address, back, { key, idleMs, gone });
    } catch (error) {
      // Who left meanwhile is no failure of anybody.
      if (gone.aborted) return undefined;
      if (gateway?.isListed === false) {
        results.add("gone");
        return undefined;
      }
      // Of what a handshake or a database says, the code is enough.
      const { code, message } = error as NodeJS.ErrnoException;
      throw this.#unreachable(gateway?.id, code ?? message);
    }
    if (stream.statusCode === 200) return stream;
    stream.destroy();
    if (stream.statusCode !== 410) {
      throw this.#unreachable(gateway.id, `status ${stream.statusCode}`);
    }
    results.add("gone");
    return undefined;
  }

  #unreachable(gateway: string | undefined, reason: string): CountersignError {
    const { telemetry, journal } = this.#context;
    telemetry.relays.results.add("failed");
    const facts = gateway === undefined ? { reason } : { gateway, reason };
    journal.warn({ code: "RELAY_FAILED", ...facts }, "a stream at another gateway was not had");
    const message = "the gateway that has the stream could not be reached";
    return new CountersignError("ERR_STREAM_UNREACHABLE", message, {});
  }
}

/** Passes a stream on as it comes, as fast as it is read. */
function passThrough(stream: IncomingMessage, response: HttpResponse, gone: Signal): void {
  if (gone.aborted) {
    stream.destroy();
    return;
  }
  const session = stream.headers[SESSION_HEADER];
  const headers = typeof session === "string" ? { [SESSION_HEADER]: session } : {};
  const sink = createHttpSink(response, "sse", gone, headers);
  stream.on("data", (piece: Buffer) => {
    sink.write(piece);
    if (!sink.isSlow) return;
    stream.pause();
    void sink.drained().then(() => stream.resume());
  });
  stream.once("end", () => sink.end());
  // Broken off: so that the client comes back for the rest, its connection must look no better.
  stream.once("close", () => {
    if (!stream.complete) sink.hangUp();
  });
  gone.addEventListener("abort", () => void stream.destroy());
}
