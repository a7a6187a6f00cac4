import type { FeedItem } from "@countersign/core";

/** Listens to the feed; it must not throw and must not wait. */
export type FeedListener = (item: FeedItem) => void;

/** Some decisions as server-sent events, serialized once for all watchers. */
export type FeedBatch = { readonly bytes: Uint8Array; readonly count: number };

/** Takes batches; it must not throw and must not wait. */
export type FeedWatcher = (batch: FeedBatch) => void;

/** Decisions sent to a late watcher. */
const REMEMBERED = 200;

/**
 * How long decisions are collected for one batch. Each write to a watcher costs about 15 µs at any
 * size, and a viewer does not notice the delay.
 */
const GATHER_MS = 25;

/** Maximum characters of one batch. */
const MAX_BATCH_LENGTH = 64 * 1024;

/** The live feed: every decision as it is recorded, for all watchers. */
export class Feed {
  readonly #listeners = new Set<FeedListener>();
  readonly #watchers = new Set<FeedWatcher>();
  readonly #recent: FeedItem[] = [];
  #gathered = "";
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Publishes one decision. */
  publish(item: FeedItem): void {
    this.#recent.push(item);
    if (this.#recent.length > REMEMBERED) this.#recent.shift();
    for (const listener of this.#listeners) listener(item);
    if (this.#watchers.size > 0) this.#gather(item);
  }

  /** The last decisions, oldest first. */
  recent(): readonly FeedItem[] {
    return this.#recent;
  }

  /** Starts listening; the function returned stops it. */
  listen(listener: FeedListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Starts watching with the last decisions, then every batch; the function returned stops it. */
  watch(watcher: FeedWatcher): () => void {
    // The new watcher gets the pending decisions among the last ones, and must not get them again.
    this.#flush();
    if (this.#recent.length > 0)
      watcher(batchOf(this.#recent.map(writeItem).join(""), this.#recent.length));
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  /** The number of watchers. */
  get watchers(): number {
    return this.#watchers.size;
  }

  #gather(item: FeedItem): void {
    this.#gathered += writeItem(item);
    this.#count += 1;
    if (this.#gathered.length >= MAX_BATCH_LENGTH) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), GATHER_MS).unref();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#count === 0) return;
    const batch = batchOf(this.#gathered, this.#count);
    this.#gathered = "";
    this.#count = 0;
    for (const watcher of this.#watchers) watcher(batch);
  }
}

const ENCODER = new TextEncoder();

function batchOf(text: string, count: number): FeedBatch {
  return { bytes: ENCODER.encode(text), count };
}

function writeItem(item: FeedItem): string {
  return `data: ${JSON.stringify(item)}\n\n`;
}
