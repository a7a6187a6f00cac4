import { LightSignal } from "@countersign/core";
import type { Signal } from "@countersign/core";
import type { AgUiEvent } from "@countersign/wire";
import type { Grant } from "../../access/access.js";
import { sseFrameOf } from "../http-sink.js";
import type { HttpSink } from "../http-sink.js";
import type { ClientSink, ReceiptTransport } from "../../event/sink.js";
import { BufferedFrames } from "./buffered-frames.js";

/**
 * How long a shutdown waits for a client after the end was written to its connection: that connection may have been
 * broken already. A browser waits three seconds before it reconnects.
 */
const SETTLE_MS = 5000;

/** The principal or ticket that may resume a stream, and its agent and session. */
export type StreamHolder = {
  readonly principal: string;
  readonly agent: string;
  readonly sessionId: string;
  /** Hash of the ticket that opened it: an `EventSource` reconnects with the same URL. */
  readonly ticket?: string | undefined;
  /** The credential that opened it, or that its ticket was issued for. */
  readonly grant?: Pick<Grant, "isValid">;
};

/** The limits that all resumable streams of a gateway share. */
export type StreamPool = {
  readonly graceMs: number;
  /** Bytes buffered per stream. */
  readonly maxBuffered: number;
  /** Whether all streams together have filled the buffer. */
  readonly isFull: boolean;
  count(bytes: number): void;
  /** Whether one more stream may wait for its client; counted until {@link waited}. */
  wait(): boolean;
  /** The stream waits no longer: its client is back, its run has ended, or it expired. */
  waited(): void;
  forget(key: string): void;
};

/**
 * The client's side of a run, which outlives its connection.
 *
 * Each event has a number and the last events are buffered. A client that resumes with the number of its last event
 * gets the rest. Meanwhile the agent continues until the buffer is full. A resent event was decided and signed once,
 * and is not decided or signed again.
 */
export class ResumableStream implements ClientSink {
  readonly transport: ReceiptTransport = "sse";
  /** Aborts when the client has been disconnected for too long. */
  readonly gone = new LightSignal();
  readonly key: string;
  readonly holder: StreamHolder;
  readonly #pool: StreamPool;
  readonly #buffered = new BufferedFrames();
  #sink: HttpSink | undefined;
  #isOpen = false;
  #isOver = false;
  /** When the end was last written to a connection. */
  #endedAt: number | undefined;
  #isExpired = false;
  /** Whether the pool counts this stream as one that waits for its client. */
  #isCounted = false;
  #timer: NodeJS.Timeout | undefined;
  readonly #waiting = new Set<() => void>();

  /** A client that disconnects before `open` cannot resume: it knows no event id yet. */
  constructor(key: string, holder: StreamHolder, pool: StreamPool, connection: Signal) {
    this.key = key;
    this.holder = holder;
    this.#pool = pool;
    const leave = (): void => {
      if (!this.#isOpen) this.#expire();
    };
    if (connection.aborted) leave();
    else connection.addEventListener("abort", leave);
  }

  /** Opens the first connection, and sends an event id to resume from before there is any event. */
  open(sink: HttpSink, connection: Signal): this {
    this.#isOpen = true;
    this.#attach(sink, connection);
    sink.write(`id: ${this.key}.0\n\n`);
    return this;
  }

  /** Whether a client that has everything up to this number can resume. */
  canResumeFrom(after: number): boolean {
    return this.#isOpen && !this.#isExpired && this.#buffered.after(after) !== undefined;
  }

  /** Whether no event follows this number, now or later. */
  isAtEnd(after: number): boolean {
    return this.#isOver && this.#buffered.next === after + 1;
  }

  /** Attaches another connection, after the last event that its client has; the caller checks {@link canResumeFrom} first. */
  attach(after: number, sink: HttpSink, connection: Signal): void {
    // A connection may be dead long before the gateway notices: the latest one is the client's.
    const former = this.#sink;
    this.#attach(sink, connection);
    former?.hangUp();
    const missed = this.#buffered.after(after) ?? "";
    if (missed !== "") sink.write(missed);
    if (this.#isOver) this.#endOn(sink);
  }

  /** Whether the run has ended and its client may not know yet. `now` in milliseconds. */
  mayMissItsEnd(now: number): boolean {
    if (!this.#isOver || this.#isExpired) return false;
    return this.#endedAt === undefined || now - this.#endedAt < SETTLE_MS;
  }

  get isDisconnected(): boolean {
    return this.#sink === undefined;
  }

  get isSlow(): boolean {
    if (this.gone.aborted) return false;
    if (this.#sink !== undefined) return this.#sink.isSlow;
    // When the shared buffer is full, a thousand unread streams must not each fill their own.
    return this.#pool.isFull || this.#buffered.size >= this.#pool.maxBuffered;
  }

  send(events: readonly AgUiEvent[], texts: readonly (string | undefined)[] = []): void {
    if (this.gone.aborted) return;
    const before = this.#buffered.size;
    let piece = "";
    for (const [index, event] of events.entries()) {
      const frame = `id: ${this.key}.${this.#buffered.next}\n${sseFrameOf(event, texts[index])}`;
      this.#buffered.add(frame);
      piece += frame;
    }
    if (this.#sink !== undefined) {
      this.#sink.write(piece);
      // The other half is reserved for events that arrive while the client is disconnected.
      this.#buffered.trim(this.#pool.isFull ? 0 : this.#pool.maxBuffered / 2);
    }
    this.#pool.count(this.#buffered.size - before);
  }

  async drained(): Promise<void> {
    while (this.isSlow) {
      // Resolves at the first of: the client reads, its connection breaks, a client attaches, the grace period ends.
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#waiting.delete(wake);
          resolve();
        };
        this.#waiting.add(wake);
        void this.#sink?.drained().then(wake);
      });
    }
  }

  heartbeat(): void {
    this.#sink?.heartbeat();
  }

  /** The run is over; its last events wait for a client that is disconnected, or that loses its connection just now. */
  end(): void {
    this.#isOver = true;
    this.#stopCounting();
    if (this.#sink !== undefined) this.#endOn(this.#sink);
    if (this.#pool.isFull) this.#expire();
  }

  /** Writes the end. A connection that received everything does not disconnect, so the grace period begins here. */
  #endOn(sink: HttpSink): void {
    this.#endedAt = performance.now();
    sink.end();
    this.#wait();
  }

  #attach(sink: HttpSink, connection: Signal): void {
    this.#stopWaiting();
    this.#sink = sink;
    this.#wake();
    const leave = (): void => {
      if (this.#sink !== sink) return;
      this.#sink = undefined;
      this.#wait();
      this.#wake();
    };
    if (connection.aborted) leave();
    else connection.addEventListener("abort", leave);
  }

  #wait(): void {
    if (this.#isExpired) return;
    // The last events of a finished run keep no agent busy.
    if (!this.#isOver) {
      if (!this.#pool.wait()) {
        this.#expire();
        return;
      }
      this.#isCounted = true;
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#expire(), this.#pool.graceMs);
    // The timer must not delay the exit of the process.
    this.#timer.unref();
  }

  #stopWaiting(): void {
    clearTimeout(this.#timer);
    this.#stopCounting();
  }

  #stopCounting(): void {
    if (this.#isCounted) this.#pool.waited();
    this.#isCounted = false;
  }

  #expire(): void {
    this.#stopWaiting();
    if (this.#isExpired) return;
    this.#isExpired = true;
    this.#pool.forget(this.key);
    this.#pool.count(-this.#buffered.size);
    // A finished run needs no abort.
    if (!this.#isOver) this.gone.abort();
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }
}
