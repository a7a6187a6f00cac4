import type { Clock } from "../base/ports.js";
import type { Message } from "@countersign/wire";
import { digestOf } from "./digest.js";

/** Maximum message ids in the index: the oldest leaves first. About 3 MB. */
const MAX_IDS = 20_000;
/** Clients ask for suggestions right after a run. */
const MAX_AGE_MS = 60 * 60 * 1000;

/** Whether a client repeats messages of this role that it got from the gateway. */
export function isRepeatable(role: Message["role"]): boolean {
  return role === "assistant" || role === "reasoning" || role === "tool";
}

/** The thread of a message id, or that several threads have it. */
type Place = { readonly threadId: string | undefined; readonly at: number };

/**
 * The threads of the messages that this gateway delivered last, by the id of the message. The index only finds a thread: what a client
 * repeats is compared with the thread's ledger, so an entry that is missing or wrong refuses a request and never accepts one.
 */
export class DeliveredMessages {
  readonly #clock: Clock;
  /** In the order of their last delivery. */
  readonly #places = new Map<string, Place>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param scope the owner of the threads: no other scope finds them */
  add(scope: readonly string[], threadId: string, id: string): void {
    const key = digestOf([...scope, id]);
    const at = this.#clock.now();
    const known = this.#known(key);
    const isOthers = known !== undefined && known.threadId !== threadId;
    // Deleting it first moves it to the end of the map.
    this.#places.delete(key);
    this.#places.set(key, { threadId: isOthers ? undefined : threadId, at });
    const [oldest] = this.#places.keys();
    if (this.#places.size > MAX_IDS && oldest !== undefined) this.#places.delete(oldest);
  }

  /** The one thread of these messages; ids that the index does not have, or of several threads, are left out. */
  threadOf(scope: readonly string[], ids: readonly string[]): string | undefined {
    const threads = new Set<string>();
    for (const id of ids) {
      const threadId = this.#known(digestOf([...scope, id]))?.threadId;
      if (threadId !== undefined) threads.add(threadId);
    }
    const [only] = threads;
    return threads.size === 1 ? only : undefined;
  }

  #known(key: string): Place | undefined {
    const place = this.#places.get(key);
    return place === undefined || this.#clock.now() - place.at > MAX_AGE_MS ? undefined : place;
  }
}
