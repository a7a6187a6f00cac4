import { isCountersignError } from "@countersign/core";
import type { Signal } from "@countersign/core";
import { decodeTextFrame } from "@countersign/wire/websocket";
import { failureOf, failureOfStop } from "./deliver/run-error.js";
import type { UpstreamPiece, UpstreamPieces, UpstreamStream } from "../agent/upstream.js";
import { createEventContext } from "../event/event-context.js";
import type { Step, StreamEnd } from "../event/stage.js";
import { openPipeline } from "./pipeline.js";
import { runLimitReached, RunTimer } from "../event/run-limits.js";
import type { Run } from "../event/run.js";
import { createTurns } from "./turns.js";

/** Events that may wait for their receipt before the gateway stops reading from the agent: a few reads, during one flush. */
const MAX_BACKLOG = 2048;
/** Bytes that may wait for receipts: a few large events can be too much below the limit of events. */
const MAX_BACKLOG_BYTES = 4 * 1024 * 1024;
/** Bytes that a stream processes in one turn; small socket frames that arrived together share it. */
const MAX_TURN_BYTES = 64 * 1024;
/** Milliseconds after which a stream yields its turn: 2,000 small events on a large conversation took half a minute. */
const MAX_TURN_MS = 25;
/** A longer read is split into slices, and the gateway checks the clock after each. */
const MAX_UNSPLIT_BYTES = 8 * 1024;
const SLICE_BYTES = 2 * 1024;
/** After a slice that takes longer, the next slice is shorter, down to about one event. */
const MAX_SLICE_MS = 5;
const MIN_SLICE_BYTES = 64;

/** The limits that a connection can reach after its run, while it stays open. */
const LATE: ReadonlySet<string> = new Set(["ERR_RUN_TIME", "ERR_RUN_SILENCE"]);

/** All runs share one queue, because they share an event loop. */
const turns = createTurns();

/**
 * Runs one agent's stream through the pipeline. Resolves when the client's stream is closed. It never throws: every failure ends the run
 * with an error to the client.
 */
export function driveRun(run: Run, stream: UpstreamStream, stopped: Signal): Promise<void> {
  const { first, done } = openPipeline(run);
  new Drive(run, first, stream, stopped).start();
  return done;
}

class Drive {
  readonly #run: Run;
  /** The first stage. */
  readonly #pipeline: Step;
  readonly #stream: UpstreamStream;
  readonly #stopped: Signal;
  readonly #timer: RunTimer;
  /** Bytes that were judged while events waited for their receipts. */
  #bytes = 0;
  /** Bytes of the stream so far. */
  #read = 0;
  /** The rest of a read, or of a frame with several events. */
  #rest: UpstreamPiece | undefined;
  #texts: string[] = [];
  /** Bytes of the next slice. */
  #slice = SLICE_BYTES;
  #isInLine = false;
  #isOver = false;

  constructor(run: Run, pipeline: Step, stream: UpstreamStream, stopped: Signal) {
    this.#run = run;
    this.#pipeline = pipeline;
    this.#stream = stream;
    this.#stopped = stopped;
    this.#timer = new RunTimer(run.runLimits, (error) => this.#end(this.#endFor(error)));
  }

  start(): void {
    this.#stopped.addEventListener("abort", this.#ask, { once: true });
    if (this.#stopped.aborted) this.#ask();
    else this.#listen();
  }

  #listen(): void {
    this.#timer.listen();
    this.#stream.pieces.whenReady(this.#ask);
  }

  readonly #ask = (): void => {
    this.#timer.pause();
    if (this.#isInLine || this.#isOver) return;
    this.#isInLine = true;
    turns.ask(this.#work);
  };

  readonly #work = (): void => {
    this.#isInLine = false;
    if (this.#isOver) return;
    try {
      if (this.#stopped.aborted) this.#end({ failure: failureOfStop(this.#stopped) });
      else if (!this.#mustWait()) this.#process();
    } catch (error) {
      this.#end(this.#endFor(error));
    }
  };

  /** Whether the run must wait for the budget of a limited token, room in the log, receipts, or a slow client. */
  #mustWait(): boolean {
    const { recorder, backlog, sink, pause } = this.#run;
    let until = pause?.until;
    until ??= recorder.room?.();
    if (this.#bytes >= MAX_BACKLOG_BYTES && backlog.size > 0) until ??= backlog.roomBelow(1);
    if (backlog.size >= MAX_BACKLOG) until ??= backlog.roomBelow(MAX_BACKLOG / 2);
    if (sink.isSlow) until ??= sink.drained();
    if (until === undefined) return false;
    void until.then(this.#ask);
    return true;
  }

  /** Processes the bytes that arrived, and queues for the rest. */
  #process(): void {
    const { backlog, clock, pause, progress } = this.#run;
    const { events } = progress;
    const arrivedAt = performance.now();
    let bytes = 0;
    try {
      if (pause !== undefined) this.#pipeline.proceed();
      if (this.#isComplete()) {
        this.#end({});
        return;
      }
      while (
        bytes < MAX_TURN_BYTES &&
        pause?.until === undefined &&
        (bytes === 0 || performance.now() - arrivedAt < MAX_TURN_MS)
      ) {
        const piece = this.#take();
        if (piece === "nothing yet") break;
        if (piece === "over") {
          this.#end({});
          return;
        }
        const context = createEventContext(clock.now());
        context.piece = piece;
        bytes += this.#spend(piece);
        const pushedAt = performance.now();
        this.#pipeline.push(context);
        this.#slice = nextSlice(this.#slice, performance.now() - pushedAt);
        if (this.#isComplete()) {
          this.#end({});
          return;
        }
      }
    } finally {
      // Events before malformed bytes are still judged, recorded and delivered.
      this.#pipeline.flush(arrivedAt);
    }
    if (progress.events > events) this.#timer.progress();
    this.#bytes = backlog.size === 0 ? 0 : this.#bytes + bytes;
    if (pause?.until !== undefined) void pause.until.then(this.#ask);
    else if (this.#rest !== undefined || this.#texts.length > 0) this.#ask();
    else this.#listen();
  }

  /** The next piece, or a slice of it: one piece may hold thousands of small events, and each may be much work. */
  #take(): ReturnType<UpstreamPieces["take"]> {
    const text = this.#texts.pop();
    if (text !== undefined) return { kind: "frame", text, isEvent: true };
    const piece = this.#rest ?? this.#stream.pieces.take();
    this.#rest = undefined;
    if (typeof piece === "string") return piece;
    if (piece.kind === "frame") return this.#takeFrame(piece);
    const most = this.#slice === SLICE_BYTES ? MAX_UNSPLIT_BYTES : this.#slice;
    if (piece.bytes.byteLength <= most) return piece;
    this.#rest = { ...piece, bytes: piece.bytes.subarray(this.#slice) };
    return { ...piece, bytes: piece.bytes.subarray(0, this.#slice) };
  }

  /** A frame may hold as many events as a read; each of them is a piece. */
  #takeFrame(frame: UpstreamPiece & { kind: "frame" }): UpstreamPiece {
    const texts = decodeTextFrame(frame.text);
    const [first] = texts;
    if (first === undefined || texts.length === 1) return frame;
    this.#texts = texts.slice(1).toReversed();
    // All bytes of the frame count, not only its events.
    this.#read += frame.text.length - texts.reduce((sum, text) => sum + text.length, 0);
    return { kind: "frame", text: first, isEvent: true };
  }

  /** Counts the received bytes, comments included. */
  #spend(piece: UpstreamPiece): number {
    const { runBytes } = this.#run.runLimits;
    const size = sizeOf(piece);
    this.#read += size;
    if (this.#read > runBytes) throw runLimitReached("ERR_RUN_BYTES", runBytes);
    return size;
  }

  /** A socket stays open for the next run, so only the stream's events tell that this run is over. */
  #isComplete(): boolean {
    const { progress, pause } = this.#run;
    return progress.isComplete && !this.#stream.endsByItself && pause?.until === undefined;
  }

  #end(end: StreamEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timer.end();
    this.#stopped.removeEventListener("abort", this.#ask);
    this.#stream.pieces.close();
    this.#endPipeline(end);
  }

  #endPipeline(end: StreamEnd): void {
    try {
      this.#pipeline.end(end);
    } catch (error) {
      return this.#endAfter(error, end);
    }
    return this.#proceedToEnd(end);
  }

  /** Ends the pipeline again after a stage threw. */
  #endAfter(error: unknown, end: StreamEnd): void {
    const broken = end.failure === undefined ? this.#endFor(error) : end;
    if (broken !== end && broken.failure !== undefined) this.#endPipeline(broken);
    // A run always ends with an event: clients take silence for success.
    else this.#pipeline.fail(broken.failure ?? failureOf(error));
  }

  /** A stage that still has many events forwards them in several turns, and the end after them. */
  #proceedToEnd(end: StreamEnd): void {
    const until = this.#run.pause?.until;
    if (until === undefined) return;
    this.#pipeline.flush(performance.now());
    const proceed = (): void => {
      try {
        this.#pipeline.proceed();
      } catch (error) {
        return this.#endAfter(error, end);
      }
      return this.#proceedToEnd(end);
    };
    void until.then(() => turns.ask(proceed));
  }

  #endFor(error: unknown): StreamEnd {
    const run = this.#run;
    if (this.#stopped.aborted) return { failure: failureOfStop(this.#stopped) };
    const fromTransport = isCountersignError(error) && error.code.startsWith("ERR_UPSTREAM_");
    // The run ended before its connection did: the client has all of it.
    const isLate = isCountersignError(error) && LATE.has(error.code);
    if ((fromTransport || isLate) && run.progress.isOver) return {};
    const failure = failureOf(error);
    run.observer.failed(failure.code, error);
    run.cancel();
    if (isCountersignError(error) && !fromTransport) {
      const context = createEventContext(run.clock.now());
      context.refused = error.code;
      this.#pipeline.push(context);
    }
    return { failure };
  }
}

function nextSlice(bytes: number, milliseconds: number): number {
  if (milliseconds > MAX_SLICE_MS) return Math.max(MIN_SLICE_BYTES, bytes / 4);
  return Math.min(SLICE_BYTES, milliseconds < 1 ? bytes * 2 : bytes);
}

function sizeOf(piece: UpstreamPiece): number {
  return piece.kind === "frame" ? piece.text.length : piece.bytes.byteLength;
}
