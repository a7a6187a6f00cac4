import { encodeOtlp } from "./span.js";
import type { Span, SpanAttributes } from "./span.js";

/** Options of {@link createExporter}. */
export type ExporterOptions = {
  /** The whole address, usually ending in `/v1/traces`. */
  readonly endpoint: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly resource: SpanAttributes;
  /** Called when spans could not be sent; never with their content. */
  onFailure(reason: string, spans: number): void;
};

/** Sends finished spans to a collector in the background. */
export type SpanExporter = {
  add(span: Span): void;
  /** Spans that did not reach the collector. */
  readonly dropped: number;
  readonly exported: number;
  /** Sends the remaining spans, within the timeout of one request. */
  close(): Promise<void>;
};

/**
 * Maximum number of waiting spans: a collector that is down must not use up the gateway's memory.
 */
const MAX_QUEUE = 2048;
const MAX_BATCH = 512;
const INTERVAL_MS = 1000;
const TIMEOUT_MS = 5000;

/** Starts an exporter; its timer does not keep the process alive. */
export function createExporter(options: ExporterOptions): SpanExporter {
  let queue: Span[] = [];
  let dropped = 0;
  let exported = 0;
  let sending: Promise<void> | undefined;

  const send = async (batch: readonly Span[]): Promise<void> => {
    const failure = await post(options, encodeOtlp(batch, options.resource));
    if (failure === undefined) exported += batch.length;
    else {
      dropped += batch.length;
      options.onFailure(failure, batch.length);
    }
  };
  const drain = async (): Promise<void> => {
    while (queue.length > 0) {
      const batch = queue.slice(0, MAX_BATCH);
      queue = queue.slice(MAX_BATCH);
      await send(batch);
    }
  };
  const flush = (): Promise<void> => {
    sending ??= drain().finally(() => {
      sending = undefined;
    });
    return sending;
  };
  const timer = setInterval(() => void flush(), INTERVAL_MS);
  timer.unref();
  return {
    add(span) {
      if (queue.length >= MAX_QUEUE) dropped += 1;
      else queue.push(span);
    },
    get dropped() {
      return dropped;
    },
    get exported() {
      return exported;
    },
    async close() {
      clearInterval(timer);
      await sending;
      if (queue.length === 0) return;
      // One request only: a collector that does not respond must not delay the end of the process.
      const last = queue.slice(0, MAX_BATCH);
      dropped += queue.length - last.length;
      queue = [];
      await send(last);
    },
  };
}

/** Resolves with `undefined` on success, else with the reason of the failure. */
async function post(options: ExporterOptions, body: string): Promise<string | undefined> {
  try {
    const response = await fetch(options.endpoint, {
      method: "POST",
      headers: { ...options.headers, "content-type": "application/json" },
      body,
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    return response.ok ? undefined : `status ${response.status}`;
  } catch (error) {
    return error instanceof Error ? error.name : "unknown";
  }
}
