import { failureOf, STOPPED } from "../deliver/run-error.js";
import type { UpstreamStream } from "../upstream/upstream.js";
import { openPipeline } from "./pipeline.js";
import type { Run } from "./run.js";

/** Events that may wait for their receipt before the agent has to wait too. */
const MAX_BACKLOG = 512;

/**
 * Carries one agent's stream along the road until it ends, one way or another.
 *
 * Whatever goes wrong becomes the end of the run, told to the person; nothing is thrown.
 */
export async function driveRun(
  run: Run,
  stream: UpstreamStream,
  stopped: AbortSignal,
): Promise<void> {
  const pipeline = openPipeline(run);
  try {
    for await (const piece of stream.pieces) {
      if (stopped.aborted) break;
      pipeline.push({ receivedAt: run.clock.now(), piece });
      if (run.backlog.size >= MAX_BACKLOG) await run.backlog.roomBelow(MAX_BACKLOG / 2);
      if (run.sink.isSlow) await run.sink.drained();
    }
    pipeline.end(stopped.aborted ? { failure: STOPPED } : {});
  } catch (error) {
    const failure = stopped.aborted ? STOPPED : failureOf(error);
    run.observer.failed(failure.code, error);
    run.cancel(failure.code);
    pipeline.end({ failure });
  }
}
