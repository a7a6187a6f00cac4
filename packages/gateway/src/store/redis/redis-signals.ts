import type { Redis } from "ioredis";
import type { RedisOptions } from "./redis-options.js";
import { createSubscriberClient, retryDelay } from "./redis-client.js";

/** A listener of one signal. */
export type SignalListener = {
  /** A gateway of the log sent this signal; possibly this one. */
  onSignal(text: string): void;
  /** Called when signals arrive from now on: earlier ones may be lost, so the listener reads what it follows. */
  onListening(): void;
};

const PING_MS = 1000;

/**
 * The subscriptions of a gateway, on a connection of their own. A signal may be lost: it only says that there is
 * something to read.
 */
export class RedisSignals {
  readonly #options: RedisOptions;
  readonly #answerMs: number;
  readonly #listeners = new Map<string, Set<SignalListener>>();
  readonly #onChange: (isListening: boolean) => void;
  #client: Redis | undefined;
  #isListening = false;
  #attempt = 0;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(
    options: RedisOptions,
    answerMs: number,
    onChange: (isListening: boolean) => void = () => {},
  ) {
    this.#options = options;
    this.#answerMs = answerMs;
    this.#onChange = onChange;
  }

  /** True while signals arrive. */
  get isListening(): boolean {
    return this.#isListening;
  }

  /** Listens to a channel; returns the function that ends it. */
  listen(channel: string, listener: SignalListener): () => void {
    const known = this.#listeners.get(channel);
    const listeners = known ?? new Set();
    listeners.add(listener);
    this.#listeners.set(channel, listeners);
    if (this.#isListening && this.#client !== undefined) {
      const client = this.#client;
      client.subscribe(channel).then(
        () => {
          if (this.#client === client) listener.onListening();
        },
        () => this.#lose(client),
      );
    }
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0 || this.#listeners.get(channel) !== listeners) return;
      this.#listeners.delete(channel);
      void this.#client?.unsubscribe(channel).catch(() => undefined);
    };
  }

  /** Connects; resolves after the first attempt, and repeats a failed one later. */
  async open(): Promise<void> {
    if (this.#isClosed) return;
    const client = createSubscriberClient(this.#options, this.#answerMs, this.#attempt);
    this.#attempt += 1;
    this.#client = client;
    // Reported by the rejected promise; without a listener, the client writes to the console.
    client.on("error", () => undefined);
    client.on("message", (channel: string, text: string) => {
      for (const listener of this.#listeners.get(channel) ?? []) listener.onSignal(text);
    });
    client.once("end", () => this.#lose(client));
    try {
      await client.connect();
      const channels = [...this.#listeners.keys()];
      if (channels.length > 0) await client.subscribe(...channels);
      // A listener that came meanwhile.
      const late = [...this.#listeners.keys()].filter((one) => !channels.includes(one));
      if (late.length > 0) await client.subscribe(...late);
    } catch {
      this.#lose(client);
      return;
    }
    if (this.#client !== client || this.#isClosed) return;
    this.#failures = 0;
    this.#isListening = true;
    this.#onChange(true);
    for (const listeners of this.#listeners.values()) {
      for (const listener of listeners) listener.onListening();
    }
    this.#ping(client);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#isListening = false;
    this.#client?.disconnect();
    this.#client = undefined;
  }

  /** A connection that is cut without an end shows only by the missing response. */
  #ping(client: Redis): void {
    this.#timer = setTimeout(() => {
      client.ping().then(
        () => {
          if (this.#client === client) this.#ping(client);
        },
        () => this.#lose(client),
      );
    }, PING_MS);
    this.#timer.unref();
  }

  #lose(client: Redis): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    client.disconnect();
    clearTimeout(this.#timer);
    if (this.#isListening) {
      this.#isListening = false;
      this.#onChange(false);
    }
    if (this.#isClosed) return;
    this.#failures += 1;
    this.#timer = setTimeout(() => void this.open(), retryDelay(this.#failures));
    this.#timer.unref();
  }
}
