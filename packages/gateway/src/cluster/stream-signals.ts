import type { JsonObject } from "@countersign/core";
import { createTicketSeal } from "../access/ticket-seal.js";
import type { RedisConnections } from "../store/redis/open-redis.js";

/**
 * Signals between gateways about a stream. A signal may be lost: readers repeat where they are, and look for new
 * events from time to time.
 */
export type StreamSignal =
  /** To the gateway of a stream: a connection reads it elsewhere, and has the events up to `after`. */
  | {
      readonly kind: "reader";
      readonly stream: string;
      readonly reader: string;
      readonly gateway: string;
      readonly after: number;
      readonly isViewer: boolean;
      /** Whether the connection is new, and takes the stream over. */
      readonly isNew: boolean;
    }
  /** To the gateway of a stream: that connection is closed. */
  | { readonly kind: "left"; readonly reader: string }
  /** To the gateway of a reader: the stream has new events. */
  | { readonly kind: "news"; readonly stream: string }
  /** To the gateway of a reader: a later connection has the stream. */
  | { readonly kind: "displaced"; readonly reader: string };

/** Sends and receives the signals of streams. They are sealed: a writer in Redis cannot take a stream from its client. */
export class StreamSignals {
  readonly #redis: RedisConnections;
  readonly #seal: ReturnType<typeof createTicketSeal>;
  readonly #stop: () => void;

  constructor(
    redis: RedisConnections,
    key: Uint8Array,
    gateway: string,
    listener: { onSignal(signal: StreamSignal): void; onListening(): void },
  ) {
    this.#redis = redis;
    this.#seal = createTicketSeal(key);
    this.#stop = redis.listen(nameOf(gateway), {
      onSignal: (text) => {
        const { to, ...signal } = (this.#seal.open(text) ?? {}) as JsonObject;
        if (to === gateway) listener.onSignal(signal as unknown as StreamSignal);
      },
      onListening: () => listener.onListening(),
    });
  }

  send(to: string, signal: StreamSignal): void {
    this.#redis.signal(nameOf(to), this.#seal.seal({ ...signal, to }));
  }

  close(): void {
    this.#stop();
  }
}

function nameOf(gateway: string): string {
  return `streams/${gateway}`;
}
