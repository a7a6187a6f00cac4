import { resolveLimits } from "@countersign/core";
import type { Limits } from "@countersign/core";
import type { RunAgentInput } from "@countersign/wire";
import { classifySseData } from "@countersign/wire/sse";
import { withParameters } from "./address.js";
import { connectError } from "./connect-error.js";
import { createFrameQueue } from "./frame-queue.js";
import { LOST } from "./transport.js";
import type { Transport } from "./transport.js";

/** The part of a browser's `EventSource` that is used. */
export type EventSourceLike = {
  readonly readyState: number;
  close(): void;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
};

/** Options of {@link eventSource}. */
export type EventSourceOptions = {
  /**
   * The stream's address. A string gets `session` (the thread) and `run` added as a gateway reads them;
   * a function gives the whole address, for servers that take the question in the query.
   */
  readonly url: string | ((input: RunAgentInput) => string);
  readonly withCredentials?: boolean;
  /** Asks a gateway for the receipt of each event; an address that a function gives asks for itself. */
  readonly receipts?: boolean;
  /** How often the browser may come back by itself before the stream counts as lost. */
  readonly maxReconnects?: number;
  readonly limits?: Partial<Limits>;
  /** In place of the global `EventSource`. */
  readonly EventSource?: new (url: string, init?: { withCredentials?: boolean }) => EventSourceLike;
};

const CLOSED = 2;

/**
 * A GET stream through the browser's own `EventSource`, which comes back by itself and then sends
 * `Last-Event-ID`. It carries no body: what the agent shall do is chosen by the address.
 */
export function eventSource(options: EventSourceOptions): Transport {
  const limits = resolveLimits(options.limits);
  const Source = options.EventSource ?? globalThis.EventSource;
  if (Source === undefined) {
    throw new TypeError("this runtime has no EventSource; pass a class as the option EventSource");
  }
  const { url, withCredentials = false, receipts = false, maxReconnects = 5 } = options;
  return {
    name: "event-source",
    // The browser does it; a second connection of ours could not send the id.
    resumable: false,
    shared: false,
    open: async function* ({ input, signal }) {
      if (signal.aborted) return;
      const { threadId, runId } = input;
      const asked = receipts ? { receipts: "1" } : {};
      const address =
        typeof url === "string"
          ? withParameters(url, { session: threadId, run: runId, ...asked })
          : url(input);
      const source = new Source(address, { withCredentials });
      const queue = createFrameQueue(limits.maxHeldBytes);
      let opened = false;
      let losses = 0;
      source.onopen = () => {
        opened = true;
        queue.push([]);
      };
      source.onmessage = ((event: { data: string; lastEventId: string }) => {
        losses = 0;
        if (classifySseData(event.data) !== "event") return queue.push([]);
        const id = event.lastEventId === "" ? {} : { id: event.lastEventId };
        return queue.push([{ json: event.data, ...id }]);
      }) as (event: never) => void;
      source.onerror = () => {
        losses += 1;
        if (source.readyState !== CLOSED && losses <= maxReconnects) return queue.push([LOST]);
        source.close();
        return queue.end(
          opened
            ? undefined
            : connectError("the stream could not be opened", {
                transport: "event-source",
                notStarted: false,
              }),
        );
      };
      const hangUp = (): void => queue.end();
      signal.addEventListener("abort", hangUp, { once: true });
      try {
        yield* queue.read();
      } finally {
        // Left open, it would come back and ask for the run again.
        source.close();
        signal.removeEventListener("abort", hangUp);
      }
    },
  };
}
