import type { Diagnostic } from "../base/diagnostic.js";
import type { LedgerProjection, Projected } from "../project.js";

/** How a projection is run over rows. */
export type StreamOptions = {
  /** What the reader has seen already: taken into account, not told again. */
  readonly seen?: Iterable<unknown>;
  /** What happened before: restated as a snapshot, not streamed. */
  readonly history?: Iterable<unknown>;
  /** `run`: the stream ends with its run, as the answer to a request does. Default: with the rows. */
  readonly until?: "run" | "rows";
  readonly onDiagnostic?: (diagnostic: Diagnostic) => void;
};

/** What was made, and the ledger id up to which the reader has now seen everything. */
export type Streamed = { readonly projected: Projected; readonly cursor: number };

/**
 * Runs a projection over rows as they come. When the source fails or ends inside a run, the run ends in
 * RUN_ERROR; the failure itself goes no further.
 */
export async function* streamProjection(
  rows: AsyncIterable<unknown> | Iterable<unknown>,
  projection: LedgerProjection,
  options: StreamOptions = {},
): AsyncGenerator<Streamed, void, undefined> {
  const told = (projected: Projected): Streamed => {
    for (const diagnostic of projected.diagnostics) options.onDiagnostic?.(diagnostic);
    return { projected, cursor: projection.cursor };
  };
  for (const diagnostic of projection.diagnostics) options.onDiagnostic?.(diagnostic);
  let wasOpen = false;
  if (options.seen !== undefined) told({ ...projection.replay(options.seen), frames: [] });
  if (options.history !== undefined) {
    const replayed = projection.replay(options.history);
    wasOpen = replayed.frames.length > 0;
    yield told(replayed);
  }
  const isOver = (): boolean => options.until === "run" && wasOpen && !projection.isRunOpen;
  try {
    if (!isOver()) {
      for await (const row of rows) {
        const projected = projection.push(row);
        wasOpen ||= projection.isRunOpen || projected.frames.length > 0;
        yield told(projected);
        if (isOver()) break;
      }
    }
  } catch {
    // The source failed. What it said may quote a row, so only the ending below is told.
  }
  yield told(projection.end());
}
