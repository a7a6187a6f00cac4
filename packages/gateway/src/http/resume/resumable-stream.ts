import type { AgUiEvent } from "@countersign/wire";
import { sseFrameOf } from "../http-sink.js";
import type { HttpSink } from "../http-sink.js";
import type { ClientSink, ReceiptTransport } from "../../event/sink.js";
import { LightSignal } from "../../base/signal.js";
import type { Signal } from "../../base/signal.js";
import { BufferedFrames } from "./buffered-frames.js";

/**
 * How long after the end of a stream its client may still come back for it although it was written to its connection:
 * that may have broken meanwhile. A browser waits three seconds before it comes back.
 */
const SETTLE_MS = 5000;

/** Who may take a stream up, and what for. */
export type StreamHolder = {
  readonly principal: string;
  readonly agent: string;
  readonly sessionId: string;
  /** Hash of the ticket that opened it: an `EventSource` comes back with the same address. */
  readonly ticket?: string | undefined;
};

/** What all lasting streams of a gateway share. */
export type StreamKeeper = {
  readonly graceMs: number;
  /** Characters kept for one stream. */
  readonly maxKept: number;
  /** Whether all of them together keep as much as they may. */
  readonly isFull: boolean;
  count(characters: number): void;
  /** Whether one more may wait for its client; counted until it is {@link found}. */
  wait(): boolean;
  found(): void;
  forget(key: string): void;
};

/**
 * The person's end of a run that outlives its connection.
 *
 * Each event has a number, the last ones are kept, and a client that comes back with the number of the last it
 * has gets the rest. Meanwhile the agent goes on until as much waits as may be kept. What is sent again was
 * judged and signed for once, and is not again.
 */
export class ResumableStream implements ClientSink {
  readonly transport: ReceiptTransport = "sse";
  /** Aborts when the client has been away for too long: then it is gone for the run. */
  readonly gone = new LightSignal();
  readonly key: string;
  readonly holder: StreamHolder;
  readonly #keeper: StreamKeeper;
  readonly #kept = new BufferedFrames();
  #sink: HttpSink | undefined;
  #isOpen = false;
  #isOver = false;
  /** When its end was last written to a connection. */
  #endedAt: number | undefined;
  #isForgotten = false;
  #isAwaited = false;
  #timer: NodeJS.Timeout | undefined;
  readonly #waiting = new Set<() => void>();

  /** Until it is opened a client that hangs up cannot come back: it knows no number yet. */
  constructor(key: string, holder: StreamHolder, keeper: StreamKeeper, connection: Signal) {
    this.key = key;
    this.holder = holder;
    this.#keeper = keeper;
    const leave = (): void => {
      if (!this.#isOpen) this.#giveUp();
    };
    if (connection.aborted) leave();
    else connection.addEventListener("abort", leave);
  }

  /** Begins on its first connection, with a place to come back to before there is any event. */
  open(sink: HttpSink, connection: Signal): this {
    this.#isOpen = true;
    this.#attach(sink, connection);
    sink.write(`id: ${this.key}.0\n\n`);
    return this;
  }

  /** Whether a client that has everything up to this number can go on from there. */
  canGoOn(after: number): boolean {
    return this.#isOpen && !this.#isForgotten && this.#kept.after(after) !== undefined;
  }

  /** Whether there is nothing behind this number, nor will be. */
  isTold(after: number): boolean {
    return this.#isOver && this.#kept.next === after + 1;
  }

  /** Goes on over another connection, behind the last event its client has; {@link canGoOn} was asked before. */
  attach(after: number, sink: HttpSink, connection: Signal): void {
    // A connection may be dead long before anybody on this side notices: whoever came last is there.
    const former = this.#sink;
    this.#attach(sink, connection);
    former?.hangUp();
    const missed = this.#kept.after(after) ?? "";
    if (missed !== "") sink.write(missed);
    if (this.#isOver) this.#endOn(sink);
  }

  /** Whether it is over, and its client probably does not know yet. `now` in milliseconds. */
  isAwaited(now: number): boolean {
    if (!this.#isOver || this.#isForgotten) return false;
    return this.#endedAt === undefined || now - this.#endedAt < SETTLE_MS;
  }

  get isAway(): boolean {
    return this.#sink === undefined;
  }

  get isSlow(): boolean {
    if (this.gone.aborted) return false;
    if (this.#sink !== undefined) return this.#sink.isSlow;
    // Where all of them together keep as much as they may, a thousand that nobody reads must not fill up on their own.
    return this.#keeper.isFull || this.#kept.size >= this.#keeper.maxKept;
  }

  send(events: readonly AgUiEvent[], texts: readonly (string | undefined)[] = []): void {
    if (this.gone.aborted) return;
    const before = this.#kept.size;
    let piece = "";
    for (const [index, event] of events.entries()) {
      const frame = `id: ${this.key}.${this.#kept.next}\n${sseFrameOf(event, texts[index])}`;
      this.#kept.add(frame);
      piece += frame;
    }
    if (this.#sink !== undefined) {
      this.#sink.write(piece);
      // The other half is for what comes while nobody is there.
      this.#kept.trim(this.#keeper.isFull ? 0 : this.#keeper.maxKept / 2);
    }
    this.#keeper.count(this.#kept.size - before);
  }

  async drained(): Promise<void> {
    while (this.isSlow) {
      // Whichever comes first: it is read, its connection breaks, somebody comes back, nobody does.
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

  /** The run is over; its last words wait for a client that is away, or that loses its connection just now. */
  end(): void {
    this.#isOver = true;
    this.#found();
    if (this.#sink !== undefined) this.#endOn(this.#sink);
    if (this.#keeper.isFull) this.#giveUp();
  }

  #endOn(sink: HttpSink): void {
    this.#endedAt = performance.now();
    sink.end();
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
    if (this.#isForgotten) return;
    // The last words of a run that is over keep no agent busy.
    if (!this.#isOver) {
      if (!this.#keeper.wait()) {
        this.#giveUp();
        return;
      }
      this.#isAwaited = true;
    }
    this.#timer = setTimeout(() => this.#giveUp(), this.#keeper.graceMs);
    // Nobody waits for it when the gateway ends.
    this.#timer.unref();
  }

  #stopWaiting(): void {
    clearTimeout(this.#timer);
    this.#found();
  }

  #found(): void {
    if (this.#isAwaited) this.#keeper.found();
    this.#isAwaited = false;
  }

  #giveUp(): void {
    this.#stopWaiting();
    if (this.#isForgotten) return;
    this.#isForgotten = true;
    this.#keeper.forget(this.key);
    this.#keeper.count(-this.#kept.size);
    // A run that is over has nothing left to be ended.
    if (!this.#isOver) this.gone.abort();
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }
}
