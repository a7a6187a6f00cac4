import type { Diagnostic } from "../base/diagnostic.js";
import type { LedgerProjection, Projected } from "../project.js";

/** Options of {@link streamProjection}. */
export type StreamOptions = {
  /** Rows that the reader has already seen: processed, but not sent again. */
  readonly seen?: Iterable<unknown>;
  /** Earlier rows: restated as a snapshot, not streamed. */
  readonly history?: Iterable<unknown>;
  /**
   * `run`: the stream ends with its run, like the response to a request. Default: with the rows.
   */
  readonly until?: "run" | "rows";
  readonly onDiagnostic?: (diagnostic: Diagnostic) => void;
};

/** A result, and the ledger id up to which the reader has now seen everything. */
export type Streamed = { readonly projected: Projected; readonly cursor: number };

/**
 * Runs a projection over rows as they arrive. When the source fails or ends inside a run, the run
 * ends in RUN_ERROR; the error itself is not passed on.
 */
export async function* streamProjection(
  rows: AsyncIterable<unknown> | Iterable<unknown>,
  projection: LedgerProjection,
  options: StreamOptions = {},
): AsyncGenerator<Streamed, void, undefined> {
  const report = (projected: Projected): Streamed => {
    for (const diagnostic of projected.diagnostics) options.onDiagnostic?.(diagnostic);
    return { projected, cursor: projection.cursor };
  };
  for (const diagnostic of projection.diagnostics) options.onDiagnostic?.(diagnostic);
  let wasOpen = false;
  if (options.seen !== undefined) report({ ...projection.replay(options.seen), frames: [] });
  if (options.history !== undefined) {
    const replayed = projection.replay(options.history);
    wasOpen = replayed.frames.length > 0;
    yield report(replayed);
  }
  const isOver = (): boolean => options.until === "run" && wasOpen && !projection.isRunOpen;
  try {
    if (!isOver()) {
      for await (const row of rows) {
        const projected = projection.push(row);
        wasOpen ||= projection.isRunOpen || projected.frames.length > 0;
        yield report(projected);
        if (isOver()) break;
      }
    }
  } catch {
    // The source failed. Its message may contain row data, so only the ending below is sent.
  }
  yield report(projection.end());
}
