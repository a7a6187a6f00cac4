import { CountersignError } from "@countersign/core";
import type { Signal } from "@countersign/core";
import type { IncomingMessage } from "node:http";
import { createHttpSink } from "../http/http-sink.js";
import type { HttpResponse } from "../http/exchange.js";
import type { ResumeRequest, ResumeElsewhere } from "../http/resume/resume-request.js";
import { readStreamPosition } from "../http/resume/resume-request.js";
import type { Journal } from "../base/ports.js";
import type { Telemetry } from "../telemetry/telemetry.js";
import { SESSION_HEADER } from "../agent/upstream.js";
import { requestStream } from "./relay-client.js";
import "../base/errors.js";
import type { StreamNames } from "./stream-names.js";
import type { FoundGateway } from "./gateway-directory.js";

/** Options of {@link Relays}. */
export type RelayOptions = {
  /** 32 bytes that only the gateways of the log share. */
  readonly key: Uint8Array;
  readonly names: StreamNames;
  /** Finds a gateway by the tag in a stream's name. */
  find(tag: string): Promise<FoundGateway | undefined>;
};

/** The gateway's journal and metrics, and the limits of relays. */
export type RelayContext = {
  readonly telemetry: Pick<Telemetry, "relays">;
  readonly journal: Journal;
  readonly allowed: number;
  readonly idleMs: number;
};

/** Relays streams of other gateways to clients that resume at this one. */
export class Relays implements ResumeElsewhere {
  readonly #options: RelayOptions;
  readonly #context: RelayContext;

  constructor(options: RelayOptions, context: RelayContext) {
    this.#options = options;
    this.#context = context;
  }

  /**
   * Resumes a stream of another gateway through this one. Resolves once the stream has begun or the
   * client has disconnected: true when a gateway has the stream. The relay then lasts until either
   * end closes.
   *
   * @throws CountersignError `ERR_STREAM_UNREACHABLE`, `ERR_STREAM_RELAYS`
   */
  async relay(back: ResumeRequest, response: HttpResponse, gone: Signal): Promise<boolean> {
    const tag = this.#options.names.gatewayOf(readStreamPosition(back.lastEventId)?.key ?? "");
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

  /** Opens the rest of a stream; `undefined` when no gateway has it. */
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
      // The directory lists only other gateways: this gateway would have found its own stream before.
      gateway = await this.#options.find(tag);
      if (gateway === undefined) {
        results.add("gone");
        return undefined;
      }
      stream = await requestStream(gateway.address, back, { key, idleMs, gone });
    } catch (error) {
      // The client disconnected, which is not a failure.
      if (gone.aborted) return undefined;
      if (gateway?.isListed === false) {
        results.add("gone");
        return undefined;
      }
      // The error code is enough for the log.
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
    journal.warn(
      { code: "RELAY_FAILED", ...facts },
      "a stream of another gateway could not be relayed",
    );
    const message = "the gateway that has the stream could not be reached";
    return new CountersignError("ERR_STREAM_UNREACHABLE", message, {});
  }
}

/** Relays a stream with backpressure. */
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
  // The stream broke: hang up, so that the client resumes.
  stream.once("close", () => {
    if (!stream.complete) sink.hangUp();
  });
  gone.addEventListener("abort", () => void stream.destroy());
}
