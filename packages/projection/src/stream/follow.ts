/** A ledger that can be read and watched. */
export type LedgerPort = {
  /** Rows with a greater id, in ascending order, at most so many. */
  read(afterId: number, limit: number): readonly unknown[] | Promise<readonly unknown[]>;
  /** Calls back after rows were appended; returns how to stop it. */
  subscribe(listener: () => void): () => void;
};

/** Where to begin and when to stop. */
export type FollowOptions = {
  /** Rows up to this id are not given. Default 0. */
  readonly afterId?: number;
  readonly signal?: AbortSignal;
  readonly pageSize?: number;
};

/**
 * Every row after a cursor, then every row that is appended. Watching begins before the first read, so
 * nothing that is appended between the two is lost; the id of the last row is the watermark, so nothing
 * is given twice.
 */
export async function* followLedger(
  ledger: LedgerPort,
  options: FollowOptions = {},
): AsyncGenerator<unknown, void, undefined> {
  const { signal, pageSize = 256 } = options;
  let watermark = options.afterId ?? 0;
  let isStale = true;
  let wake: (() => void) | undefined;
  const notify = (): void => {
    isStale = true;
    wake?.();
  };
  const unsubscribe = ledger.subscribe(notify);
  signal?.addEventListener("abort", notify);
  try {
    while (!isAborted(signal)) {
      if (!isStale) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        wake = undefined;
        continue;
      }
      isStale = false;
      const rows = await ledger.read(watermark, pageSize);
      if (rows.length === pageSize) isStale = true;
      for (const row of rows) {
        const id = idOf(row);
        if (id !== undefined && id <= watermark) continue;
        if (id !== undefined) watermark = id;
        yield row;
        if (isAborted(signal)) return;
      }
    }
  } finally {
    unsubscribe();
    signal?.removeEventListener("abort", notify);
  }
}

/** A function, because the compiler takes a property once read for the same ever after. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

function idOf(row: unknown): number | undefined {
  const id = (row as { id?: unknown } | null | undefined)?.id;
  return typeof id === "number" ? id : undefined;
}
