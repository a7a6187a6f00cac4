import { LightSignal, writeJson } from "@countersign/core";
import type { JsonValue, Signal } from "@countersign/core";
import type { AgUiEvent } from "@countersign/wire";
import type { Grant } from "../../access/access.js";
import type { ClientSink, ReceiptTransport } from "../../event/sink.js";
import { BufferedEvents } from "./buffered-events.js";
import type { HolderFacts } from "./resume-request.js";
import type { OpenedRun } from "../../runs/start-run.js";
import type { StreamCopy } from "./stream-copy.js";
import { isRunEnd } from "./stream-reader.js";
import type { StreamReader } from "./stream-reader.js";

/**
 * How long a shutdown waits for a client after the end was written to its connection: that connection may have been
 * broken already. A browser waits three seconds before it reconnects.
 */
const SETTLE_MS = 5000;
/** Connections that may read one stream beside its client. */
const MAX_VIEWERS = 8;

/** The principal or ticket that may resume a stream, and the credential that opened it. */
export type StreamHolder = HolderFacts & {
  /** The credential that opened it, or that its ticket was issued for. */
  readonly grant?: Pick<Grant, "isValid" | "name">;
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
  /** Copies a stream for other gateways; `undefined` where there are none. */
  share(stream: ResumableStream, run: OpenedRun): StreamCopy | undefined;
};

/** A connection that reads the stream, and how far it got. */
type Attached = {
  readonly reader: StreamReader;
  readonly isViewer: boolean;
  /** The last event that was written. */
  written: number;
  /** Whether the rest is written once the connection has room. */
  isWaiting: boolean;
};

/**
 * The client's side of a run, which outlives its connections.
 *
 * Each event has a number and the last events are buffered. A client that resumes with the number of its last event
 * gets the rest. Meanwhile the agent continues until the buffer is full. A resent event was decided and signed once,
 * and is not decided or signed again.
 *
 * One connection is the client's: the run goes at its speed. Viewers read beside it. A viewer that falls behind the
 * buffer is cut off; without a client, the viewer that came first takes its place.
 */
export class ResumableStream implements ClientSink {
  readonly transport: ReceiptTransport;
  /** Aborts when the client has been disconnected for too long. */
  readonly gone = new LightSignal();
  readonly key: string;
  readonly holder: StreamHolder;
  readonly events = new BufferedEvents();
  readonly #pool: StreamPool;
  readonly #attached = new Set<Attached>();
  #copy: StreamCopy | undefined;
  #run: OpenedRun | undefined;
  #isOver = false;
  /** When the end was last written to a connection. */
  #endedAt: number | undefined;
  #isExpired = false;
  /** Whether the pool counts this stream as one that waits for its client. */
  #isCounted = false;
  #timer: NodeJS.Timeout | undefined;
  readonly #waiting = new Set<() => void>();

  /** A client that disconnects before `open` cannot resume: it knows no event id yet. */
  constructor(
    key: string,
    holder: StreamHolder,
    pool: StreamPool,
    connection: Signal,
    transport: ReceiptTransport = "sse",
  ) {
    this.key = key;
    this.holder = holder;
    this.transport = transport;
    this.#pool = pool;
    const leave = (): void => {
      if (this.#run === undefined) this.#expire();
    };
    if (connection.aborted) leave();
    else connection.addEventListener("abort", leave);
  }

  /** Opens the first connection, and sends an event id to resume from before there is any event. */
  open(reader: StreamReader, connection: Signal, run: OpenedRun): this {
    this.#run = run;
    this.#copy = this.#pool.share(this, run);
    this.#add(0, reader, connection, false);
    return this;
  }

  /** Whether a client that has everything up to this number can resume. */
  canResumeFrom(after: number): boolean {
    return this.#run !== undefined && !this.#isExpired && this.events.after(after) !== undefined;
  }

  /** Whether this event may have ended a run: the end that a client got may be another gateway's. */
  mayHaveEndedRun(number: number): boolean {
    const text = this.events.after(number - 1)?.[0];
    return text === undefined || isRunEnd(text);
  }

  /** Whether no event follows this number, now or later. */
  isAtEnd(after: number): boolean {
    return this.#isOver && this.events.next === after + 1;
  }

  /** The run; it exists once the stream is open. */
  get run(): OpenedRun {
    if (this.#run === undefined) throw new TypeError("the stream is not open yet");
    return this.#run;
  }

  /** Whether the run is over. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether one more connection may read the stream beside its client. */
  get hasRoomForViewer(): boolean {
    let viewers = 0;
    for (const { isViewer } of this.#attached) if (isViewer) viewers += 1;
    return viewers < MAX_VIEWERS;
  }

  /** Attaches another connection, after the last event that its client has; the caller checks {@link canResumeFrom} first. */
  attach(after: number, reader: StreamReader, connection: Signal, isViewer = false): void {
    // A connection may be dead long before the gateway notices: the latest one is the client's.
    const former = isViewer ? undefined : [...this.#attached].find((one) => !one.isViewer);
    this.#add(after, reader, connection, isViewer);
    if (former === undefined) return;
    this.#attached.delete(former);
    former.reader.hangUp();
  }

  /** Whether the run has ended and its client may not know yet. `now` in milliseconds. */
  mayMissItsEnd(now: number): boolean {
    if (!this.#isOver || this.#isExpired || this.#copy?.isComplete === true) return false;
    return this.#endedAt === undefined || now - this.#endedAt < SETTLE_MS;
  }

  get isDisconnected(): boolean {
    return this.#attached.size === 0 && this.#endedAt === undefined;
  }

  get isSlow(): boolean {
    if (this.gone.aborted) return false;
    const main = this.#main();
    const { size, isFull } = this.events;
    if (isFull || size >= this.#pool.maxBuffered) return true;
    // When the shared buffer is full, a thousand unread streams must not each fill their own.
    if (main === undefined) return this.#pool.isFull;
    if (main.reader.isSlow) return true;
    return this.#pool.isFull && confirmedBy(main) < this.events.next - 1;
  }

  send(events: readonly AgUiEvent[], texts: readonly (string | undefined)[] = []): void {
    if (this.gone.aborted) return;
    const before = this.events.size;
    const first = this.events.next;
    const added = events.map((event, index) => texts[index] ?? writeJson(event as JsonValue));
    for (const text of added) this.events.add(text);
    for (const attached of this.#attached) {
      if (attached.written === first - 1 && !attached.reader.isSlow) {
        attached.reader.write(first, added);
        attached.written += added.length;
      } else this.#write(attached);
    }
    this.#pool.count(this.events.size - before);
    this.#copy?.update();
    this.#trim();
  }

  /** Another gateway took this one for dead, and ended the stream: nothing may follow what it told the client. */
  endedElsewhere(): void {
    this.#expire();
  }

  /** A reader has confirmed events, so that the buffer may drop them. */
  confirmed(): void {
    if (this.#isOver) for (const attached of this.#attached) this.#write(attached);
    this.#trim();
    this.#wake();
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
        const main = this.#main();
        if (main?.reader.isSlow === true) void main.reader.drained().then(wake);
      });
    }
  }

  heartbeat(): void {
    for (const { reader } of this.#attached) reader.heartbeat();
  }

  /** The run is over; its last events wait for a client that is disconnected, or that loses its connection just now. */
  end(): void {
    this.#isOver = true;
    this.#stopCounting();
    this.#copy?.update();
    for (const attached of this.#attached) this.#write(attached);
    // A reader elsewhere has only the copy.
    const isReadElsewhere = [...this.#attached].some(
      ({ reader }) => reader.confirmed !== undefined,
    );
    if (this.#pool.isFull && !isReadElsewhere) this.#expire();
  }

  /** The connection at whose speed the run goes. */
  #main(): Attached | undefined {
    let viewer: Attached | undefined;
    for (const attached of this.#attached) {
      if (!attached.isViewer) return attached;
      viewer ??= attached;
    }
    return viewer;
  }

  #add(after: number, reader: StreamReader, connection: Signal, isViewer: boolean): void {
    this.#stopWaiting();
    const attached: Attached = { reader, isViewer, written: after, isWaiting: false };
    this.#attached.add(attached);
    const leave = (): void => {
      if (this.#attached.delete(attached)) this.#left();
    };
    if (connection.aborted) {
      leave();
      return;
    }
    connection.addEventListener("abort", leave);
    reader.begin(after);
    this.#write(attached);
    this.confirmed();
  }

  #left(): void {
    if (this.#attached.size === 0) this.#wait();
    this.#wake();
  }

  /** Writes what a connection has room for, and its end. */
  #write(attached: Attached): void {
    const { reader } = attached;
    if (attached.isWaiting || !this.#attached.has(attached)) return;
    const missed = this.events.after(attached.written);
    if (missed === undefined) {
      // It fell behind the buffer.
      this.#attached.delete(attached);
      reader.hangUp();
      this.#left();
      return;
    }
    if (missed.length > 0) {
      if (reader.isSlow) {
        attached.isWaiting = true;
        void reader.drained().then(() => {
          attached.isWaiting = false;
          this.#write(attached);
          this.confirmed();
        });
        return;
      }
      reader.write(attached.written + 1, missed);
      attached.written += missed.length;
    }
    // A reader elsewhere may still read the copy.
    if (this.#isOver && confirmedBy(attached) >= attached.written) this.#endOn(attached);
  }

  /** Writes the end. A connection that received everything does not disconnect, so the grace period begins here. */
  #endOn(attached: Attached): void {
    this.#endedAt = performance.now();
    this.#attached.delete(attached);
    attached.reader.end();
    if (this.#attached.size === 0) this.#wait();
  }

  /** Drops what the client has; half of the buffer is reserved for events that arrive while it is disconnected. */
  #trim(): void {
    const main = this.#main();
    if (main === undefined) return;
    const before = this.events.size;
    const limit = this.#pool.isFull ? 0 : this.#pool.maxBuffered / 2;
    this.events.trim(limit, confirmedBy(main));
    this.#pool.count(this.events.size - before);
  }

  #wait(): void {
    if (this.#isExpired) return;
    // The last events of a finished run keep no agent busy.
    if (!this.#isOver && !this.#isCounted) {
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
    this.#pool.count(-this.events.size);
    this.#copy?.remove();
    // A finished run needs no abort.
    if (!this.#isOver) this.gone.abort();
    for (const { reader } of this.#attached) reader.hangUp();
    this.#attached.clear();
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }
}

function confirmedBy({ reader, written }: Attached): number {
  return reader.confirmed ?? written;
}
