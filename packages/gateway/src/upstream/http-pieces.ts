import { CountersignError } from "@countersign/core";
import type { IncomingMessage } from "node:http";
import "./errors.js";
import { createIdleTimer } from "./idle-timer.js";
import type { UpstreamPiece, UpstreamTarget } from "./upstream.js";

/** Bytes that may wait to be judged before the agent has to; one read of a socket. */
const MAX_WAITING_BYTES = 64 * 1024;

type Pull = {
  resolve(result: IteratorResult<UpstreamPiece>): void;
  reject(error: unknown): void;
};

/**
 * An answer's bytes as a pulled sequence; a reader that waits makes the agent wait.
 *
 * By hand, because the stream's own iterator costs 3 KB a stream and several promises a read. Agents
 * write each event as an HTTP chunk of its own, and one read of the socket brings hundreds of them: all
 * that has come is one piece, or each event would be asked for, recorded and written by itself.
 */
export function readHttpPieces(
  target: UpstreamTarget,
  response: IncomingMessage,
  kind: "sse" | "proto",
  signal: AbortSignal,
): AsyncIterable<UpstreamPiece> {
  const reader = new PieceReader(target, response, kind, signal);
  return { [Symbol.asyncIterator]: () => reader };
}

class PieceReader implements AsyncIterator<UpstreamPiece> {
  readonly #target: UpstreamTarget;
  readonly #response: IncomingMessage;
  readonly #kind: "sse" | "proto";
  readonly #signal: AbortSignal;
  readonly #idle;
  readonly #waiting: Uint8Array[] = [];
  #bytes = 0;
  #pull: Pull | undefined;
  #isReading = false;
  #isOver = false;
  #failure: unknown;

  constructor(
    target: UpstreamTarget,
    response: IncomingMessage,
    kind: "sse" | "proto",
    signal: AbortSignal,
  ) {
    this.#target = target;
    this.#response = response;
    this.#kind = kind;
    this.#signal = signal;
    this.#idle = createIdleTimer(target, (error) => response.destroy(error));
    response.on("end", () => this.#finish(undefined));
    response.on("error", (error) => this.#finish(error));
    // After an end or an error this says nothing new; without one, the agent hung up in the middle.
    response.on("close", () => this.#finish({ code: "ECONNRESET" }));
  }

  next(): Promise<IteratorResult<UpstreamPiece>> {
    if (this.#waiting.length > 0) return Promise.resolve(this.#all());
    if (this.#isOver) return this.#ending();
    // Only the agent's silence counts: while a slow reader makes us wait, no clock runs.
    this.#idle.start();
    return new Promise((resolve, reject) => {
      this.#pull = { resolve, reject };
      if (this.#isReading) return;
      this.#isReading = true;
      this.#response.on("data", (chunk: Uint8Array) => this.#take(chunk));
    });
  }

  return(): Promise<IteratorResult<UpstreamPiece>> {
    this.#isOver = true;
    this.#failure = undefined;
    this.#waiting.length = 0;
    this.#idle.end();
    this.#response.destroy();
    return Promise.resolve({ done: true, value: undefined });
  }

  #take(bytes: Uint8Array): void {
    this.#waiting.push(bytes);
    this.#bytes += bytes.byteLength;
    if (this.#bytes >= MAX_WAITING_BYTES) this.#response.pause();
    // The parser hands over the chunks of one read in one go; the microtask comes after the last.
    if (this.#pull !== undefined && this.#waiting.length === 1) queueMicrotask(this.#hand);
  }

  readonly #hand = (): void => {
    const pull = this.#pull;
    if (pull === undefined || this.#waiting.length === 0) return;
    this.#pull = undefined;
    this.#idle.stop();
    pull.resolve(this.#all());
  };

  #all(): IteratorResult<UpstreamPiece> {
    const [first] = this.#waiting;
    const bytes =
      this.#waiting.length === 1 && first !== undefined
        ? first
        : Buffer.concat(this.#waiting, this.#bytes);
    this.#waiting.length = 0;
    this.#bytes = 0;
    if (this.#response.isPaused()) this.#response.resume();
    return { done: false, value: { kind: this.#kind, bytes } };
  }

  #finish(failure: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#failure = failure;
    this.#idle.end();
    const pull = this.#pull;
    // What has come before the end is handed over first.
    if (pull === undefined || this.#waiting.length > 0) return;
    this.#pull = undefined;
    this.#ending().then(pull.resolve, pull.reject);
  }

  #ending(): Promise<IteratorResult<UpstreamPiece>> {
    const failure = this.#failure;
    this.#failure = undefined;
    this.#response.destroy();
    if (failure === undefined || this.#signal.aborted) {
      return Promise.resolve({ done: true, value: undefined });
    }
    return Promise.reject(this.#errorOf(failure));
  }

  #errorOf(failure: unknown): CountersignError {
    if (failure instanceof CountersignError) return failure;
    const { name: agent } = this.#target;
    const reason = (failure as NodeJS.ErrnoException).code ?? "unknown";
    return new CountersignError(
      "ERR_UPSTREAM_BROKEN",
      `the stream of agent ${agent} broke off (${reason})`,
      { agent, reason },
      { cause: failure },
    );
  }
}
