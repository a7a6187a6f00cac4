import type { JsonObject } from "@countersign/core";
import { LightSignal } from "@countersign/core";
import type { ResumableStream } from "../http/resume/resumable-stream.js";
import type { SharedFacts } from "../http/resume/resume-request.js";
import type { StreamCopy } from "../http/resume/stream-copy.js";
import type { StreamReader } from "../http/resume/stream-reader.js";
import type { RedisConnections, RedisValue } from "../store/redis/open-redis.js";
import { readTail } from "./stream-follower.js";
import { keysOf } from "./stream-names.js";
import { APPEND, END_ID, REMOVE } from "./stream-scripts.js";
import { END, StreamSeal } from "./stream-seal.js";
import type { StreamSignal, StreamSignals } from "./stream-signals.js";

/** How long a copy outlives the last sign of its gateway, beyond the grace period: time to notice that it is gone. */
const MARGIN_MS = 15_000;
/** How often a copy is renewed, and written again where Redis lost something. */
const RENEW_MS = 5000;
/** Renewals are spread, so that thousands of streams are not renewed in one moment. */
const TICK_MS = 250;
const MAX_RENEWED = 500;
/** Readers of one stream whose ids are kept. */
const MAX_READERS = 1000;
/** A reader at another gateway says every second where it is. */
const SILENT_MS = 4000;
/** Bytes of one entry, so that a reader need not hold a whole stream. */
const MAX_ENTRY_BYTES = 64 * 1024;
/** How long a copy waits after Redis did not accept it; each further time twice as long. */
const RETRY_MS = 250;
const MAX_RETRY_MS = 5000;

/** Options of {@link StreamCopies}. */
export type StreamCopiesOptions = {
  readonly redis: RedisConnections;
  readonly key: Uint8Array;
  readonly gateway: string;
  readonly graceMs: number;
  readonly signals: () => StreamSignals;
};

/** The copies of this gateway's streams in Redis, and their readers at other gateways. */
export class StreamCopies {
  readonly #options: StreamCopiesOptions;
  readonly #copies = new Map<string, Copy>();
  readonly #readers = new Map<string, RemoteReader>();
  readonly #timers: NodeJS.Timeout[];
  readonly #dirty = new Set<Copy>();
  #isScheduled = false;

  constructor(options: StreamCopiesOptions) {
    this.#options = options;
    this.#timers = [
      setInterval(() => this.#renewDue(), TICK_MS),
      setInterval(() => this.#dropSilent(), SILENT_MS / 2),
    ];
    for (const timer of this.#timers) timer.unref();
  }

  /** Streams whose copies lack something. */
  get incomplete(): number {
    let count = 0;
    for (const copy of this.#copies.values()) if (!copy.isComplete) count += 1;
    return count;
  }

  get size(): number {
    return this.#copies.size;
  }

  add(stream: ResumableStream, facts: SharedFacts): StreamCopy {
    const copy = new Copy(stream, facts, this.#options, {
      changed: () => this.#schedule(copy),
      stored: () => this.#tellReaders(stream.key),
      removed: () => this.#copies.delete(stream.key),
    });
    this.#copies.set(stream.key, copy);
    copy.update();
    return copy;
  }

  /** Redis may have lost copies: each is looked at again soon. */
  renew(): void {
    for (const copy of this.#copies.values()) copy.writtenAt = Number.NEGATIVE_INFINITY;
  }

  receive(signal: StreamSignal): void {
    if (signal.kind === "left") this.#readers.get(signal.reader)?.leave();
    if (signal.kind !== "reader") return;
    const { reader: id, stream: key, gateway, after, isViewer, isNew } = signal;
    const known = this.#readers.get(id);
    const copy = this.#copies.get(key);
    const stream = copy?.stream;
    if (known !== undefined) {
      known.seenAt = performance.now();
      if (after > known.confirmed) {
        known.confirmed = after;
        stream?.confirmed();
      }
      return;
    }
    // A stream that this gateway no longer has may have been ended by another one: the reader finds the end in Redis.
    if (copy === undefined || stream === undefined) return;
    const hasRoom = !isViewer || stream.hasRoomForViewer;
    // An ended stream waits for its readers, but does not need them: its copy has everything.
    if (stream.isOver && !stream.canResumeFrom(after)) return;
    // A signal that is repeated brings no reader back.
    const former = copy.readers.get(id);
    const takesOver = isNew && former === undefined;
    // The signal of a new reader may be lost: a later one counts, unless another connection has the stream by now.
    const mayAttach = former !== "left" && (takesOver || isViewer || stream.isDisconnected);
    if (!stream.canResumeFrom(after) || !mayAttach || !hasRoom) {
      this.#options.signals().send(gateway, { kind: "displaced", reader: id });
      return;
    }
    copy.meet(id, "known");
    const reader = new RemoteReader(key, gateway, after, {
      leave: () => copy.meet(id, "left"),
      hangUp: () => this.#options.signals().send(gateway, { kind: "displaced", reader: id }),
    });
    this.#readers.set(id, reader);
    reader.gone.addEventListener("abort", () => this.#readers.delete(id));
    stream.attach(after, reader, reader.gone, isViewer);
  }

  /** Resolves once every stream has ended and its end is stored, or after the time. */
  async flush(withinMs: number): Promise<void> {
    const until = performance.now() + withinMs;
    const isDone = (copy: Copy): boolean => copy.isComplete && copy.stream.isOver;
    while (![...this.#copies.values()].every(isDone) && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
    for (const copy of this.#copies.values()) copy.close();
    for (const reader of this.#readers.values()) reader.gone.abort();
  }

  /** Events of one turn of the event loop, and those of a stream that arrive during a write, are stored together. */
  #schedule(copy: Copy): void {
    this.#dirty.add(copy);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      const dirty = [...this.#dirty];
      this.#dirty.clear();
      for (const one of dirty) one.store();
    });
  }

  #renewDue(): void {
    const before = performance.now() - RENEW_MS;
    let renewed = 0;
    for (const copy of this.#copies.values()) {
      if (copy.writtenAt >= before) continue;
      copy.renew();
      renewed += 1;
      if (renewed >= MAX_RENEWED) return;
    }
  }

  #tellReaders(stream: string): void {
    const gateways = new Set<string>();
    for (const reader of this.#readers.values()) {
      if (reader.stream === stream) gateways.add(reader.gateway);
    }
    for (const gateway of gateways) this.#options.signals().send(gateway, { kind: "news", stream });
  }

  #dropSilent(): void {
    const now = performance.now();
    for (const reader of this.#readers.values()) {
      if (now - reader.seenAt > SILENT_MS) reader.gone.abort();
    }
  }
}

/** A connection at another gateway, which reads the copy itself. */
class RemoteReader implements StreamReader {
  readonly isSlow = false;
  readonly gone = new LightSignal();
  readonly stream: string;
  readonly gateway: string;
  confirmed: number;
  seenAt = performance.now();
  readonly #on: { leave(): void; hangUp(): void };

  constructor(
    stream: string,
    gateway: string,
    after: number,
    on: { leave(): void; hangUp(): void },
  ) {
    this.stream = stream;
    this.gateway = gateway;
    this.confirmed = after;
    this.#on = on;
  }

  /** It has left for good, unlike one that is silent for a while. */
  leave(): void {
    this.#on.leave();
    this.gone.abort();
  }

  hangUp(): void {
    this.#on.hangUp();
    this.leave();
  }

  begin(): void {}
  write(): void {}
  drained(): Promise<void> {
    return Promise.resolve();
  }
  heartbeat(): void {}
  end(): void {}
}

/** The copy of one stream. */
class Copy implements StreamCopy {
  readonly stream: ResumableStream;
  /** When Redis last had the copy, or did not accept it. */
  writtenAt = performance.now();
  /** Readers that the stream has or had: an attacker who can write to Redis can repeat their signals. */
  readonly readers = new Map<string, "known" | "left">();
  readonly #facts: SharedFacts;
  readonly #options: StreamCopiesOptions;
  readonly #on: { changed(): void; stored(): void; removed(): void };
  readonly #seal: StreamSeal;
  readonly #keys: [string, string, string];
  /** The last event in Redis; `undefined` where the copy must be written again. */
  #stored: number | undefined;
  /** Whether the copy has no entry although the stream had events. */
  #isBare = false;
  /** The first event in Redis. */
  #trimmed = 1;
  #isEndStored = false;
  #isUnderWay = false;
  /** Whether another gateway ended the stream, because it took this one for dead. */
  #isTaken = false;
  #isClosed = false;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    stream: ResumableStream,
    facts: SharedFacts,
    options: StreamCopiesOptions,
    on: { changed(): void; stored(): void; removed(): void },
  ) {
    this.stream = stream;
    this.#facts = facts;
    this.#options = options;
    this.#on = on;
    this.#seal = new StreamSeal(options.key, stream.key);
    this.#keys = keysOf(options.redis, stream.key);
  }

  get isComplete(): boolean {
    if (this.#isTaken) return true;
    return (
      this.#stored === this.stream.events.next - 1 && (!this.stream.isOver || this.#isEndStored)
    );
  }

  meet(reader: string, state: "known" | "left"): void {
    this.readers.set(reader, state);
    const [oldest] = this.readers.keys();
    if (this.readers.size > MAX_READERS && oldest !== undefined) this.readers.delete(oldest);
  }

  update(): void {
    if (!this.#isTaken && !this.#isClosed) this.#on.changed();
  }

  renew(): void {
    this.#write();
  }

  store(): void {
    const isWaiting = this.#failures > 0 && performance.now() - this.writtenAt < RETRY_MS;
    if (!this.isComplete && !isWaiting) this.#write();
  }

  remove(): void {
    this.close();
    this.#on.removed();
    // One that is left expires by itself.
    void this.#options.redis.run(REMOVE, this.#keys, []).catch(() => undefined);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #write(): void {
    if (this.#isUnderWay || this.#isTaken || this.#isClosed) return;
    // While Redis is down nothing is encrypted; afterwards every copy is renewed.
    if (!this.#options.redis.isUp) return;
    this.#isUnderWay = true;
    void this.#send().then(
      (isWritten) => {
        this.#isUnderWay = false;
        this.#failures = 0;
        this.writtenAt = performance.now();
        if (isWritten) this.#on.stored();
        if (!this.isComplete) this.update();
      },
      () => {
        // Whether it was written is not known, so it is written again from the start.
        this.#isUnderWay = false;
        this.#stored = undefined;
        this.writtenAt = performance.now();
        clearTimeout(this.#timer);
        const wait = Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** this.#failures);
        this.#failures += 1;
        this.#timer = setTimeout(() => this.store(), wait);
        this.#timer.unref();
      },
    );
  }

  async #send(): Promise<boolean> {
    const { redis, graceMs, gateway } = this.#options;
    const { events, isOver } = this.stream;
    const rest = this.#stored === undefined ? undefined : events.after(this.#stored);
    const isAgain = rest === undefined;
    const from = isAgain ? events.first - 1 : (this.#stored as number);
    const texts = rest ?? events.after(from) ?? [];
    const last = from + texts.length;
    const values: RedisValue[] = [];
    for (const { first, texts: some } of entriesOf(from + 1, texts)) {
      const range = { first, last: first + some.length - 1 };
      values.push(`${range.last}-0`, first, this.#seal.sealEvents(range, some));
    }
    const endsNow = isOver && (isAgain || !this.#isEndStored);
    if (endsNow) {
      values.push(END_ID, last + 1, this.#seal.sealEvents({ first: last + 1, last: END }, []));
    }
    const before = isAgain
      ? ""
      : this.#isEndStored
        ? END_ID
        : `${this.#stored === 0 || this.#isBare ? 0 : this.#stored}-0`;
    const trim = Math.min(events.first, last);
    const facts = isAgain
      ? this.#seal.sealFacts({ ...this.#facts, gateway } as unknown as JsonObject)
      : "";
    const result = await redis.run(APPEND, this.#keys, [
      graceMs + MARGIN_MS,
      before,
      trim > this.#trimmed ? trim : 0,
      facts,
      ...values,
    ]);
    if (result === "claimed") throw new TypeError("another gateway looks for this one");
    if (result === "taken") {
      this.#isTaken = true;
      // Anyone in Redis can write that the stream was taken, but only a gateway its end.
      const { isEnded } = await readTail(redis, this.stream.key, this.#seal);
      if (isEnded) this.stream.endedElsewhere();
      return false;
    }
    if (result === "gap") {
      this.#stored = undefined;
      return false;
    }
    if (isAgain) this.#isBare = texts.length === 0 && from > 0;
    else if (texts.length > 0) this.#isBare = false;
    this.#stored = last;
    this.#trimmed = Math.max(trim, isAgain ? events.first : this.#trimmed);
    if (endsNow) this.#isEndStored = true;
    return values.length > 0;
  }
}

/** Divides events into entries. */
function entriesOf(
  first: number,
  texts: readonly string[],
): { readonly first: number; readonly texts: readonly string[] }[] {
  const entries: { first: number; texts: string[] }[] = [];
  let bytes = MAX_ENTRY_BYTES;
  texts.forEach((text, index) => {
    if (bytes >= MAX_ENTRY_BYTES) {
      entries.push({ first: first + index, texts: [] });
      bytes = 0;
    }
    entries.at(-1)?.texts.push(text);
    bytes += Buffer.byteLength(text);
  });
  return entries;
}
