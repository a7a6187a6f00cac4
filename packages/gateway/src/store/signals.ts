/** Hears of what other gateways wrote. A signal may be lost: it says only that there is something to read. */
export type SignalListener = {
  /** A gateway of the log sent this signal; possibly this one. */
  onSignal(text: string): void;
  /** Signals arrive from now on, or no longer: in both cases earlier ones may be lost. */
  onListening(isListening: boolean): void;
};

/** Signals between the gateways of a log. */
export type Signals = {
  /** Sends a signal; never fails, because signals may be lost. */
  signal(name: string, text: string): void;
  /** Listens to a signal; returns the function that ends it. */
  listen(name: string, listener: SignalListener): () => void;
};

/** The signal that wakes a poll. */
export type Wake = {
  readonly signals: Signals;
  readonly name: string;
  /** Time between two polls while signals arrive, for what was written without one; ten seconds when left out. */
  readonly everyMs?: number;
};

const WOKEN_MS = 10_000;

/** Repeats a read until it is stopped. */
export type Polling = {
  /** Reads now. */
  wake(): void;
  stop(): Promise<void>;
};

/**
 * Repeats a read, one at a time: every so often, or by signals as soon as something was written.
 *
 * @param read never rejects; resolves with false when it failed
 */
export function poll(read: () => Promise<boolean>, everyMs: number, wake?: Wake): Polling {
  let reading: Promise<void> | undefined;
  let didRead = true;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let isListening = false;
  let isAskedAgain = false;
  const wait = (): void => {
    if (isStopped) return;
    // Scheduled after the last read has ended: a slow database gets one query at a time.
    const isWoken = isListening && didRead;
    timer = setTimeout(start, isWoken ? (wake?.everyMs ?? WOKEN_MS) : everyMs);
    timer.unref();
  };
  const start = (): void => {
    clearTimeout(timer);
    if (isStopped) return;
    if (reading !== undefined) {
      // The read may be past what was written.
      isAskedAgain = true;
      return;
    }
    reading = read().then((result) => {
      didRead = result;
      reading = undefined;
      if (!isAskedAgain) wait();
      else {
        isAskedAgain = false;
        start();
      }
    });
  };
  wait();
  const end = wake?.signals.listen(wake.name, {
    onSignal: start,
    onListening: (next) => {
      isListening = next;
      start();
    },
  });
  return {
    wake: start,
    stop: async () => {
      isStopped = true;
      end?.();
      clearTimeout(timer);
      await reading;
    },
  };
}
