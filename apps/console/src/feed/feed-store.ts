import type { FeedItem } from "../api/responses.js";

/** The state of the connection to the gateway. */
export type ConnectionState = "connecting" | "live" | "lost";

/** The state of the feed for components; a new object after each change. */
export type FeedView = {
  readonly connection: ConnectionState;
  /** Oldest first. */
  readonly items: readonly FeedItem[];
  /** The number of all decisions, including those no longer kept. */
  readonly total: number;
  /** Decisions that the gateway dropped because this page was too slow. */
  readonly lost: number;
};

/** The number of decisions kept. */
export const MAX_ITEMS = 10_000;

/** The shortest time between two notifications of components. */
const TELL_MS = 100;

/** Owns the state of the live feed. */
export class FeedStore {
  #items: FeedItem[] = [];
  #seen = new Set<number>();
  #total = 0;
  #lost = 0;
  #connection: ConnectionState = "connecting";
  #view: FeedView = { connection: "connecting", items: [], total: 0, lost: 0 };
  readonly #listeners = new Set<() => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Adds decisions in order. After a reconnect the gateway repeats its last ones; known ones are ignored. */
  push(items: readonly FeedItem[]): void {
    for (const item of items) {
      if (this.#seen.has(item.seq)) continue;
      this.#seen.add(item.seq);
      this.#items.push(item);
      this.#total += 1;
    }
    if (this.#items.length > MAX_ITEMS * 1.1) {
      for (const old of this.#items.splice(0, this.#items.length - MAX_ITEMS)) {
        this.#seen.delete(old.seq);
      }
    }
    this.#changed();
  }

  /** Counts decisions that the gateway dropped. */
  skip(count: number): void {
    this.#lost += count;
    this.#changed();
  }

  /** Sets the state of the connection. */
  setConnection(connection: ConnectionState): void {
    if (this.#connection === connection) return;
    this.#connection = connection;
    this.#changed();
  }

  readonly view = (): FeedView => this.#view;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  #changed(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#view = {
        connection: this.#connection,
        items: this.#items.slice(-MAX_ITEMS),
        total: this.#total,
        lost: this.#lost,
      };
      for (const listener of this.#listeners) listener();
    }, TELL_MS);
  }
}
