import { randomUUID } from "node:crypto";
import type { Signal } from "@countersign/core";
import type { Position } from "../http/resume/resume-request.js";
import { isRunEnd } from "../http/resume/stream-reader.js";
import type { StreamReader } from "../http/resume/stream-reader.js";
import type { RedisConnections } from "../store/redis/open-redis.js";
import { keysOf } from "./stream-names.js";
import { END_ID, READ } from "./stream-scripts.js";
import { END } from "./stream-seal.js";
import type { StreamSeal } from "./stream-seal.js";

/** Entries of one read. */
const PAGE = 16;
/** How often a reader looks for news, which a lost signal would hide, and tells where it is. */
const LOOK_MS = 1000;
/** How often it looks while no signals arrive. */
const BLIND_LOOK_MS = 100;
const RETRY_MS = 250;
/** How long a reader waits for a Redis that does not answer before its client is told to come back. */
const MAX_SILENCE_MS = 10_000;

/** The events of one entry; undefined texts were not written by a gateway of the log. */
export type OpenedEntry = {
  readonly first: number;
  readonly isEnd: boolean;
  readonly texts: readonly string[] | undefined;
};

/** The end of a stream as it is in Redis. */
export type StreamTail = {
  /** The last event; 0 for none. */
  readonly last: number;
  /** Whether the stream has its end. */
  readonly isEnded: boolean;
  /** Some of the last events. */
  readonly texts: readonly string[];
};

type RawEntry = readonly [id: Buffer, fields: readonly Buffer[]];

/** Reads the entries of a stream after an event; `undefined` if Redis does not have the stream. */
export async function readPage(
  redis: RedisConnections,
  stream: string,
  seal: StreamSeal,
  after: number,
): Promise<readonly OpenedEntry[] | undefined> {
  const [events, facts] = keysOf(redis, stream);
  const raw = (await redis.runBuffer(READ, [events, facts], [`${after}-0`, PAGE])) as
    | readonly RawEntry[]
    | null;
  return raw?.map((entry) => openEntry(seal, entry));
}

/** The last entries, among which are the last event and the last receipt. */
const TAIL = 3;

/** Reads the last entries of a stream. */
export async function readTail(
  redis: RedisConnections,
  stream: string,
  seal: StreamSeal,
): Promise<StreamTail> {
  const [events] = keysOf(redis, stream);
  const range = ["+", "-", "COUNT", TAIL] as const;
  const raw = (await redis.commandBuffer("XREVRANGE", events, ...range)) as readonly RawEntry[];
  const entries = raw.map((entry) => openEntry(seal, entry)).toReversed();
  const newest = entries.at(-1);
  return {
    last: newest === undefined ? 0 : newest.first + (newest.texts?.length ?? 0) - 1,
    isEnded: newest?.isEnd === true && newest.texts !== undefined,
    texts: entries.flatMap(({ texts = [] }) => texts),
  };
}

/**
 * Whether an entry has what follows a position. An end names the event before it, so that removed events are found: a client that
 * misses some, or has some that the end does not know, is not told that it has everything.
 */
export function isNext(
  { first, isEnd, texts }: OpenedEntry,
  { after, isRunOver }: Pick<Position, "after" | "isRunOver">,
): boolean {
  if (first > after + 1) return false;
  return !isEnd || texts?.length !== 0 || isRunOver || after < first;
}

function openEntry(seal: StreamSeal, [id, fields]: RawEntry): OpenedEntry {
  const place = id.toString();
  const isEnd = place === END_ID;
  const named = new Map<string, Buffer>();
  for (let at = 0; at + 1 < fields.length; at += 2) {
    named.set((fields[at] as Buffer).toString(), fields[at + 1] as Buffer);
  }
  const first = Number(named.get("first")?.toString());
  const last = isEnd ? END : Number(place.split("-")[0]);
  const sealed = named.get("sealed");
  const texts = sealed === undefined ? undefined : seal.openEvents({ first, last }, sealed);
  return { first, isEnd, texts };
}

/** The events of a follower, for its gateway. */
export type FollowerPort = {
  readonly redis: RedisConnections;
  readonly seal: StreamSeal;
  /** Bytes after which the reader tells how far it is. */
  readonly reportBytes: number;
  /** Tells the gateway of the stream where the reader is. */
  report(reader: string, after: number, isNew: boolean): void;
  left(reader: string): void;
  /** Ends the stream if its gateway is gone. Resolves with whether the reader has everything already. */
  endIfGone(after: number, isRunOver: boolean): Promise<boolean>;
  refused(reason: "changed" | "missing"): void;
  closed(): void;
};

/** Sends a stream of another gateway to one connection, from Redis. */
export class StreamFollower {
  readonly id = randomUUID();
  readonly stream: string;
  readonly #port: FollowerPort;
  readonly #reader: StreamReader;
  #after: number;
  /** Whether the last event that the client has ended a run. */
  #isRunOver: boolean;
  #isClosed = false;
  #reported = 0;
  #wake: (() => void) | undefined;
  #hasNews = false;
  /** While the connection is behind. */
  #draining: Promise<void> | undefined;

  constructor(
    stream: string,
    port: FollowerPort,
    reader: StreamReader,
    { after, isRunOver }: { readonly after: number; readonly isRunOver: boolean },
  ) {
    this.stream = stream;
    this.#port = port;
    this.#reader = reader;
    this.#after = after;
    this.#isRunOver = isRunOver;
  }

  start(connection: Signal): void {
    if (connection.aborted) return this.#close();
    connection.addEventListener("abort", () => this.#close());
    this.#reader.begin(this.#after);
    this.#port.report(this.id, this.#after, true);
    void this.#run();
  }

  /** The stream has new events. */
  wake(): void {
    this.#hasNews = true;
    // News does not make a slow connection faster.
    if (this.#draining === undefined) this.#wake?.();
  }

  /** Closes the connection: a later one has the stream, or this gateway stops. */
  hangUp(): void {
    if (this.#isClosed) return;
    this.#close();
    this.#reader.hangUp();
  }

  async #run(): Promise<void> {
    let respondedAt = performance.now();
    while (!this.#isClosed) {
      if (this.#reader.isSlow) {
        this.#draining ??= this.#reader.drained().then(() => this.#drained());
        await this.#pause(LOOK_MS);
        this.#report();
        continue;
      }
      this.#hasNews = false;
      try {
        const entries = await readPage(this.#port.redis, this.stream, this.#port.seal, this.#after);
        respondedAt = performance.now();
        if (this.#isClosed) return;
        // The stream has expired, or Redis lost it and its gateway writes it again.
        if (entries === undefined) {
          this.hangUp();
          return;
        }
        if (entries.length > 0) {
          this.#take(entries);
          continue;
        }
        if (await this.#port.endIfGone(this.#after, this.#isRunOver)) {
          this.#end();
          return;
        }
      } catch {
        if (performance.now() - respondedAt > MAX_SILENCE_MS) {
          this.hangUp();
          return;
        }
        await this.#pause(RETRY_MS);
        continue;
      }
      if (this.#isClosed) return;
      this.#report();
      if (!this.#hasNews) await this.#pause(this.#port.redis.isListening ? LOOK_MS : BLIND_LOOK_MS);
    }
  }

  #take(entries: readonly OpenedEntry[]): void {
    for (const entry of entries) {
      const { first, isEnd, texts } = entry;
      const place = { after: this.#after, isRunOver: this.#isRunOver };
      if (texts === undefined || !isNext(entry, place)) {
        this.#port.refused(texts === undefined ? "changed" : "missing");
        this.hangUp();
        return;
      }
      // The end is for every client, also for one that had more than its gateway could store.
      const skipped = isEnd ? 0 : Math.max(0, this.#after + 1 - first);
      const rest = isEnd && this.#isRunOver ? [] : texts.slice(skipped);
      if (rest.length > 0) {
        this.#reader.write(first + skipped, rest);
        this.#reported += rest.reduce((sum, text) => sum + text.length, 0);
        this.#after = first + skipped + rest.length - 1;
        this.#isRunOver = isRunEnd(rest.at(-1) as string);
      }
      if (isEnd) {
        this.#end();
        return;
      }
    }
    if (this.#reported >= this.#port.reportBytes) this.#report();
  }

  #end(): void {
    if (this.#isClosed) return;
    this.#close();
    this.#reader.end();
  }

  #report(): void {
    this.#reported = 0;
    this.#port.report(this.id, this.#after, false);
  }

  #drained(): void {
    this.#draining = undefined;
    this.#wake?.();
  }

  async #pause(milliseconds: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#wake?.();
    this.#port.left(this.id);
    this.#port.closed();
  }
}
