import { CountersignError } from "@countersign/core";
import type { Signal } from "@countersign/core";
import type { IncomingMessage } from "node:http";
import { IdleTimer } from "./idle-timer.js";
import { brokenOff } from "./upstream.js";
import type { UpstreamPiece, UpstreamPieces, UpstreamTarget } from "./upstream.js";

/** Bytes that may be buffered before the response is paused; one read of a socket. */
const MAX_WAITING_BYTES = 64 * 1024;
/** The first size of the buffer that joins waiting chunks. */
const MIN_BUFFER_BYTES = 4 * 1024;

/**
 * The bytes of a response.
 *
 * Agents write each event as its own HTTP chunk, and one read of the socket returns hundreds of chunks. All buffered
 * chunks form one piece, so that their events are judged, recorded and written together.
 */
export class HttpPieces implements UpstreamPieces {
  readonly #target: UpstreamTarget;
  readonly #response: IncomingMessage;
  readonly #kind: "sse" | "proto";
  readonly #signal: Signal;
  readonly #idle: IdleTimer;
  /**
   * The chunks that wait, as one: a flooding agent sends a chunk for each event, and thousands of views that wait for their turn survive
   * several garbage collections.
   */
  #waiting: Uint8Array | undefined;
  #bytes = 0;
  #ready: (() => void) | undefined;
  #isReading = false;
  #isOver = false;
  #failure: unknown;

  constructor(
    target: UpstreamTarget,
    response: IncomingMessage,
    kind: "sse" | "proto",
    signal: Signal,
  ) {
    this.#target = target;
    this.#response = response;
    this.#kind = kind;
    this.#signal = signal;
    this.#idle = new IdleTimer(target, (error) => response.destroy(error));
    response.on("end", () => this.#finish(undefined));
    response.on("error", (error) => this.#finish(error));
    // After an end or an error this changes nothing; otherwise the agent hung up in the middle.
    response.on("close", () => this.#finish({ code: "ECONNRESET" }));
  }

  whenReady(callback: () => void): void {
    if (this.#waiting !== undefined || this.#isOver) {
      callback();
      return;
    }
    // Only the agent's silence counts: no timer runs while a slow reader makes the agent wait.
    this.#idle.start();
    this.#ready = callback;
    if (this.#isReading) return;
    this.#isReading = true;
    this.#response.on("data", (chunk: Uint8Array) => this.#keep(chunk));
  }

  take(): UpstreamPiece | "nothing yet" | "over" {
    const waiting = this.#waiting;
    if (waiting !== undefined) {
      const bytes = this.#bytes === waiting.byteLength ? waiting : waiting.subarray(0, this.#bytes);
      this.#waiting = undefined;
      this.#bytes = 0;
      if (this.#response.isPaused()) this.#response.resume();
      return { kind: this.#kind, bytes };
    }
    if (!this.#isOver) return "nothing yet";
    const failure = this.#failure;
    this.#failure = undefined;
    this.#response.destroy();
    if (failure === undefined || this.#signal.aborted) return "over";
    if (failure instanceof CountersignError) throw failure;
    const { code = "unknown" } = failure as NodeJS.ErrnoException;
    throw brokenOff(this.#target, code, failure);
  }

  close(): void {
    this.#isOver = true;
    this.#failure = undefined;
    this.#waiting = undefined;
    this.#bytes = 0;
    this.#ready = undefined;
    this.#idle.end();
    this.#response.destroy();
  }

  #keep(bytes: Uint8Array): void {
    // Most chunks are alone, and are taken as they are.
    if (this.#waiting === undefined) this.#waiting = bytes;
    else this.#join(this.#waiting, bytes);
    this.#bytes += bytes.byteLength;
    if (this.#bytes >= MAX_WAITING_BYTES) this.#response.pause();
    this.#notify();
  }

  #join(waiting: Uint8Array, bytes: Uint8Array): void {
    const size = this.#bytes + bytes.byteLength;
    let joined = waiting;
    // The first chunk belongs to the parser of the response, and is always full.
    if (size > waiting.byteLength) {
      joined = Buffer.allocUnsafeSlow(Math.max(MIN_BUFFER_BYTES, 2 * size));
      joined.set(waiting.subarray(0, this.#bytes));
      this.#waiting = joined;
    }
    joined.set(bytes, this.#bytes);
  }

  #notify(): void {
    const ready = this.#ready;
    if (ready === undefined) return;
    this.#ready = undefined;
    this.#idle.stop();
    ready();
  }

  #finish(failure: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#failure = failure;
    this.#notify();
    this.#idle.end();
  }
}
