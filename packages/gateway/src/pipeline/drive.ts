import { isCountersignError } from "@countersign/core";
import { failureOf, failureOfStop } from "../deliver/run-error.js";
import type { UpstreamPiece, UpstreamStream } from "../upstream/upstream.js";
import { untilAborted } from "./abort.js";
import { createPassage } from "./passage.js";
import type { StreamEnd } from "./passage.js";
import { openPipeline } from "./pipeline.js";
import type { Pipeline } from "./pipeline.js";
import type { Run } from "./run.js";
import { createTurns } from "./turns.js";

/** Events that may wait for their receipt before the agent has to wait too: a few reads, during one flush. */
const MAX_BACKLOG = 2048;
/** Bytes read from the agent that may wait for receipts: with a few large events the count says little. */
const MAX_BACKLOG_BYTES = 4 * 1024 * 1024;

/** One for all runs: they share an event loop. */
const turns = createTurns();

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
    await carry(run, pipeline, stream, stopped);
    pipeline.end(stopped.aborted ? { failure: failureOfStop(stopped) } : {});
  } catch (error) {
    const end = endFor(run, pipeline, stopped, error);
    try {
      pipeline.end(end);
    } catch (second) {
      // Whatever else is broken, a run never just stops: clients take silence for success.
      pipeline.fail(end.failure ?? failureOf(second));
    }
  }
  await pipeline.done;
}

async function carry(
  run: Run,
  pipeline: Pipeline,
  stream: UpstreamStream,
  stopped: AbortSignal,
): Promise<void> {
  let bytes = 0;
  for await (const piece of stream.pieces) {
    // Nothing may come between the last answer and the push: streams that wait for the same room wake
    // together, and each must see what the one before it took.
    let hasTurn = false;
    for (let wait = mustWait(run, hasTurn); wait !== undefined; wait = mustWait(run, hasTurn)) {
      await untilAborted(wait.until, stopped);
      if (stopped.aborted) return;
      hasTurn ||= wait.isTurn;
    }
    if (stopped.aborted) return;
    const passage = createPassage(run.clock.now());
    passage.piece = piece;
    pipeline.push(passage);
    turns.passOn();
    // A socket stays open for the next run: only the stream itself can say that this one is over.
    if (run.progress.isComplete && !stream.endsByItself) return;
    bytes = run.backlog.size === 0 ? 0 : bytes + sizeOf(piece);
    if (bytes >= MAX_BACKLOG_BYTES) {
      await untilAborted(run.backlog.roomBelow(1), stopped);
      bytes = 0;
    } else if (run.backlog.size >= MAX_BACKLOG) {
      await untilAborted(run.backlog.roomBelow(MAX_BACKLOG / 2), stopped);
    }
    if (run.sink.isSlow) await untilAborted(run.sink.drained(), stopped);
  }
}

type Wait = { readonly until: Promise<void>; readonly isTurn: boolean };

/** What a stream must wait for before it may push: room in the log first, then its turn of the event loop. */
function mustWait({ recorder }: Run, hasTurn: boolean): Wait | undefined {
  const room = recorder.room?.();
  if (room !== undefined) return { until: room, isTurn: false };
  return hasTurn || !turns.isSpent() ? undefined : { until: turns.next(), isTurn: true };
}

function endFor(run: Run, pipeline: Pipeline, stopped: AbortSignal, error: unknown): StreamEnd {
  if (stopped.aborted) return { failure: failureOfStop(stopped) };
  const fromTransport = isCountersignError(error) && error.code.startsWith("ERR_UPSTREAM_");
  // The run ended before its connection did: the person has the whole of it.
  if (fromTransport && run.progress.isOver) return {};
  const failure = failureOf(error);
  run.observer.failed(failure.code, error);
  run.cancel(failure.code);
  if (isCountersignError(error) && !fromTransport) {
    pipeline.refuse(error.code, run.clock.now());
  }
  return { failure };
}

function sizeOf(piece: UpstreamPiece): number {
  return piece.kind === "frame" ? piece.text.length : piece.bytes.byteLength;
}
