import { CountersignError, isCountersignError } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import type { AgUiEvent, RunAgentInput } from "@countersign/wire";
import "../base/errors.js";
import type { StreamPipeline } from "../stream/pipeline.js";
import { LOST } from "../transport/transport.js";
import type { Batch, Transport } from "../transport/transport.js";
import { backOffDelay } from "./back-off.js";
import type { BackOff } from "./back-off.js";
import { sleep } from "./clock.js";
import type { ClientClock } from "./clock.js";

/** The request of one run, and the settings for its connections. */
export type RunRequest = {
  readonly transport: Transport;
  readonly input: RunAgentInput;
  readonly body: JsonObject;
  readonly createPipeline: () => StreamPipeline;
  readonly backOff: BackOff;
  readonly clock: ClientClock;
  readonly random: () => number;
  /** Milliseconds of silence after which a stream counts as broken. */
  readonly idleMs: number;
  /** Milliseconds to wait for a late error after the run has ended. */
  readonly lingerMs: number;
  /** Ends the run on this side, without a message to the agent. */
  readonly signal: AbortSignal;
};

/** The callbacks of the driver. */
export type RunListener = {
  status(status: "streaming" | "reconnecting"): void;
  events(events: readonly AgUiEvent[]): void;
  /** The server replays the run from its start. */
  restart(): void;
  /** The requested run has ended; only a late error can follow. */
  over(): void;
};

/**
 * Executes one run over as many connections as it needs.
 *
 * A retry must not start a second run. So the driver retries only when the server said that the run
 * did not start, or when the transport can resume at an id the server gave. Throws the error that
 * fails the run; returns when the run is over or aborted.
 */
export async function driveRun(request: RunRequest, listener: RunListener): Promise<void> {
  const { transport, signal, clock } = request;
  const reading = createReading(request, listener);
  for (let attempt = 0; ;) {
    const seen = reading.events;
    let failure: unknown;
    try {
      await readConnection(request, reading);
      if (!signal.aborted) reading.end();
    } catch (error) {
      failure = error;
    }
    if (reading.isOver || signal.aborted) return;
    attempt = reading.events > seen ? 1 : attempt + 1;
    const isCut = failure === undefined || isCountersignError(failure, "ERR_CLIENT_STALLED");
    const mayResume = transport.resumable && reading.lastEventId !== undefined;
    const again = isCut ? mayResume : mayRetry(failure, reading.events, mayResume);
    if (!again || attempt > request.backOff.attempts) throw failure ?? truncated(reading.events);
    listener.status("reconnecting");
    const requestedDelay = retryAfterOf(failure) ?? reading.retryMs;
    await sleep(
      clock,
      backOffDelay(request.backOff, attempt, request.random, requestedDelay),
      signal,
    );
    if (signal.aborted) return;
    reading.resumed();
  }
}

type Reading = ReturnType<typeof createReading>;

/** The state of a run that outlives a connection. */
function createReading(request: RunRequest, listener: RunListener) {
  let pipeline = request.createPipeline();
  let fresh = false;
  let earlier = 0;
  let announced = false;
  const reading = {
    lastEventId: undefined as string | undefined,
    retryMs: undefined as number | undefined,
    /** The transport reconnected by itself; after the end of the run it must not. */
    isLost: false,
    get events() {
      return earlier + pipeline.events;
    },
    get isOver() {
      return pipeline.over;
    },
    resumed() {
      fresh = true;
    },
    /** The stream ended without an error. */
    end() {
      const wasOver = pipeline.over;
      pipeline.end();
      if (pipeline.over && !wasOver) listener.over();
    },
    take(batch: Batch) {
      if (!announced) listener.status("streaming");
      announced = true;
      for (const frame of batch) {
        if (frame === LOST) {
          reading.isLost = true;
          fresh = true;
          if (!pipeline.over) listener.status("reconnecting");
          continue;
        }
        push(frame.json);
        if (frame.id !== undefined) reading.lastEventId = frame.id === "" ? undefined : frame.id;
        if (frame.retry !== undefined) reading.retryMs = frame.retry;
      }
    },
  };

  function push(json: string): void {
    const wasOver = pipeline.over;
    const events = (fresh ? restarted(json) : undefined) ?? pipeline.push(json);
    if (fresh) listener.status("streaming");
    fresh = false;
    listener.events(events);
    if (pipeline.over && !wasOver) listener.over();
  }

  /** After a break a server goes on where it was, or tells the run anew: then the first event says so. */
  function restarted(json: string): readonly AgUiEvent[] | undefined {
    const next = request.createPipeline();
    let events: readonly AgUiEvent[];
    try {
      events = next.push(json);
    } catch {
      return undefined;
    }
    if (events[0]?.type !== "RUN_STARTED") return undefined;
    earlier += pipeline.events;
    pipeline = next;
    listener.restart();
    return events;
  }
  return reading;
}

async function readConnection(request: RunRequest, reading: Reading): Promise<void> {
  const { transport, input, body, signal, clock, idleMs, lingerMs } = request;
  const connection = new AbortController();
  const hangUp = (): void => connection.abort();
  signal.addEventListener("abort", hangUp, { once: true });
  let stalled = false;
  let lingering = false;
  const stall = (): void => {
    stalled = true;
    hangUp();
  };
  let cancel = clock.after(idleMs, stall);
  try {
    const { lastEventId } = reading;
    const stream = transport.open({
      input,
      body,
      signal: connection.signal,
      ...(lastEventId === undefined ? {} : { lastEventId }),
    });
    for await (const batch of stream) {
      if (signal.aborted) return;
      try {
        reading.take(batch);
      } catch (error) {
        // Before the transport is left: a connection in the middle of a run must not be used again.
        hangUp();
        throw error;
      }
      if (reading.isOver && (transport.shared || reading.isLost)) return;
      if (lingering) continue;
      lingering = reading.isOver;
      cancel();
      cancel = lingering ? clock.after(lingerMs, hangUp) : clock.after(idleMs, stall);
    }
    if (stalled) {
      throw new CountersignError("ERR_CLIENT_STALLED", `nothing arrived for ${idleMs} ms`, {
        afterMs: idleMs,
      });
    }
  } finally {
    cancel();
    hangUp();
    signal.removeEventListener("abort", hangUp);
  }
}

function mayRetry(failure: unknown, events: number, mayResume: boolean): boolean {
  if (!isCountersignError(failure, "ERR_CLIENT_CONNECT")) return false;
  const { notStarted, status } = failure.facts;
  if (events === 0) return notStarted;
  // Any other answer than "not now" tells that the stream is gone.
  return mayResume && (notStarted || status === undefined || status >= 502);
}

function retryAfterOf(failure: unknown): number | undefined {
  return isCountersignError(failure, "ERR_CLIENT_CONNECT") ? failure.facts.retryAfter : undefined;
}

function truncated(events: number): CountersignError<"ERR_CLIENT_TRUNCATED"> {
  return new CountersignError("ERR_CLIENT_TRUNCATED", "the stream ended before its run did", {
    events,
  });
}
