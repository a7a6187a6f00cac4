import type { Redis } from "ioredis";
import type { SignalListener } from "../signals.js";
import type { RedisOptions } from "./redis-options.js";
import { createSubscriberClient, retryDelay } from "./redis-client.js";

const PING_MS = 1000;

/** The listeners of one signal, and the number of the last one that arrived. */
type Channel = { readonly listeners: Set<SignalListener>; last: string | undefined };

/** Options of {@link RedisSignals}. */
export type RedisSignalsOptions = {
  readonly options: RedisOptions;
  readonly answerMs: number;
  /** The channel of a signal. */
  channelOf(name: string): string;
};

/**
 * The subscriptions of a gateway, on a connection of their own. A message is the number of the signal, a colon and its
 * text: a gap in the numbers, which are also in Redis, shows that one was lost.
 */
export class RedisSignals {
  readonly #options: RedisSignalsOptions;
  readonly #channels = new Map<string, Channel>();
  #client: Redis | undefined;
  #isListening = false;
  #attempt = 0;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: RedisSignalsOptions) {
    this.#options = options;
  }

  /** True while signals arrive. */
  get isListening(): boolean {
    return this.#isListening;
  }

  /** The signals that something here listens to. */
  get names(): string[] {
    return [...this.#channels.keys()];
  }

  /** Listens to a signal; returns the function that ends it. */
  listen(name: string, listener: SignalListener): () => void {
    const known = this.#channels.get(name);
    const channel: Channel = known ?? { listeners: new Set(), last: undefined };
    channel.listeners.add(listener);
    this.#channels.set(name, channel);
    const client = this.#client;
    if (this.#isListening && client !== undefined) {
      client.subscribe(this.#options.channelOf(name)).then(
        () => {
          if (this.#client === client && channel.listeners.has(listener))
            listener.onListening(true);
        },
        () => this.#lose(client),
      );
    }
    return () => {
      channel.listeners.delete(listener);
      if (channel.listeners.size > 0 || this.#channels.get(name) !== channel) return;
      this.#channels.delete(name);
      void this.#client?.unsubscribe(this.#options.channelOf(name)).catch(() => undefined);
    };
  }

  /** Compares the number of a signal in Redis with the last one that arrived here. */
  compare(name: string, number: string): void {
    const channel = this.#channels.get(name);
    if (channel === undefined || channel.last === number) return;
    const isFirst = channel.last === undefined;
    channel.last = number;
    if (isFirst) return;
    for (const listener of channel.listeners) listener.onSignal("");
  }

  /** Connects; resolves after the first attempt, and repeats a failed one later. */
  async open(): Promise<void> {
    if (this.#isClosed) return;
    const { options, answerMs, channelOf } = this.#options;
    const client = createSubscriberClient(options, answerMs, this.#attempt);
    this.#attempt += 1;
    this.#client = client;
    // Reported by the rejected promise; without a listener, the client writes to the console.
    client.on("error", () => undefined);
    client.on("message", (channel: string, message: string) => this.#receive(channel, message));
    client.once("end", () => this.#lose(client));
    try {
      await client.connect();
      // Again for a listener that came meanwhile.
      for (let known = 0; known < this.#channels.size;) {
        known = this.#channels.size;
        await client.subscribe(...this.names.map(channelOf));
      }
    } catch {
      this.#lose(client);
      return;
    }
    if (this.#client !== client || this.#isClosed) return;
    this.#failures = 0;
    this.#tell(true);
    this.#ping(client);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#isListening = false;
    this.#client?.disconnect();
    this.#client = undefined;
  }

  #receive(address: string, message: string): void {
    const colon = message.indexOf(":");
    for (const [name, channel] of this.#channels) {
      if (this.#options.channelOf(name) !== address) continue;
      channel.last = message.slice(0, colon);
      for (const listener of channel.listeners) listener.onSignal(message.slice(colon + 1));
    }
  }

  #tell(isListening: boolean): void {
    if (this.#isListening === isListening) return;
    this.#isListening = isListening;
    for (const { listeners } of this.#channels.values()) {
      for (const listener of listeners) listener.onListening(isListening);
    }
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
    this.#tell(false);
    if (this.#isClosed) return;
    this.#failures += 1;
    this.#timer = setTimeout(() => void this.open(), retryDelay(this.#failures));
    this.#timer.unref();
  }
}
