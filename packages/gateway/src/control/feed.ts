import type { FeedItem } from "./feed-item.js";

/** Listens to the feed; it must not throw and must not wait. */
export type FeedListener = (item: FeedItem) => void;

/** Decisions shown to somebody who opens the feed late. */
const REMEMBERED = 200;

/** The live feed: every decision as it is recorded, to whoever looks. */
export class Feed {
  readonly #listeners = new Set<FeedListener>();
  readonly #recent: FeedItem[] = [];

  /** Shows one decision. */
  publish(item: FeedItem): void {
    this.#recent.push(item);
    if (this.#recent.length > REMEMBERED) this.#recent.shift();
    for (const listener of this.#listeners) listener(item);
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
}
