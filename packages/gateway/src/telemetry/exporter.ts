/** Options of {@link createExporter}. */
export type ExporterOptions<Item> = {
  /**
   * Sends one batch. Resolves with `undefined` on success, else with the reason of the failure; never rejects. `closing`
   * is aborted when the gateway stops: a sender that waits for another attempt then gives up.
   */
  send(batch: readonly Item[], closing: AbortSignal): Promise<string | undefined>;
  /** Maximum items of one batch. */
  readonly batchSize?: number;
  /** Called when items could not be sent; never with their content. */
  onFailure(reason: string, items: number): void;
};

/** Sends items in batches, in the background. */
export type Exporter<Item> = {
  add(item: Item): void;
  /** Items that did not reach the receiver. */
  readonly dropped: number;
  readonly exported: number;
  /** Sends the remaining items, within the timeout of one request. */
  close(): Promise<void>;
};

/** Maximum number of waiting items: a receiver that is down must not use up the gateway's memory. */
const MAX_QUEUE = 2048;
const BATCH_SIZE = 512;
const INTERVAL_MS = 1000;
const TIMEOUT_MS = 5000;

/** Starts an exporter; its timer does not keep the process alive. */
export function createExporter<Item>(options: ExporterOptions<Item>): Exporter<Item> {
  const { batchSize = BATCH_SIZE } = options;
  const closing = new AbortController();
  let queue: Item[] = [];
  let dropped = 0;
  let exported = 0;
  let sending: Promise<void> | undefined;

  const send = async (batch: readonly Item[]): Promise<void> => {
    const failure = await options.send(batch, closing.signal);
    if (failure === undefined) exported += batch.length;
    else {
      dropped += batch.length;
      options.onFailure(failure, batch.length);
    }
  };
  const drain = async (): Promise<void> => {
    while (queue.length > 0 && !closing.signal.aborted) {
      const batch = queue.slice(0, batchSize);
      queue = queue.slice(batchSize);
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
    add(item) {
      if (closing.signal.aborted || queue.length >= MAX_QUEUE) dropped += 1;
      else queue.push(item);
    },
    get dropped() {
      return dropped;
    },
    get exported() {
      return exported;
    },
    async close() {
      if (closing.signal.aborted) return;
      clearInterval(timer);
      closing.abort();
      await sending;
      if (queue.length === 0) return;
      // One request only: a receiver that does not respond must not delay the end of the process.
      const last = queue.slice(0, batchSize);
      dropped += queue.length - last.length;
      queue = [];
      await send(last);
    },
  };
}

/** The receiver of exported items. */
export type Receiver = {
  readonly endpoint: URL;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Posts a JSON text. Resolves with `undefined` on success, else with the reason of the failure; never rejects. */
export async function postJson(
  { endpoint, headers }: Receiver,
  body: string,
): Promise<string | undefined> {
  try {
    const response = await fetch(endpoint, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
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
