/** A ledger that can be read and watched. */
export type LedgerPort = {
  /** Rows with a greater id, in ascending order, at most `limit`. */
  read(afterId: number, limit: number): readonly unknown[] | Promise<readonly unknown[]>;
  /** Calls the listener after rows were appended; returns an unsubscribe function. */
  subscribe(listener: () => void): () => void;
};

/** Options of {@link followLedger}. */
export type FollowOptions = {
  /** Rows up to this id are skipped. Default 0. */
  readonly afterId?: number;
  readonly signal?: AbortSignal;
  readonly pageSize?: number;
};

/**
 * Every row after a cursor, then every appended row. It subscribes before the first read, so no row
 * appended between the two is lost; the id of the last row is the watermark, so no row is repeated.
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

/** A function, because the compiler assumes that a property once read stays the same. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

function idOf(row: unknown): number | undefined {
  const id = (row as { id?: unknown } | null | undefined)?.id;
  return typeof id === "number" ? id : undefined;
}
