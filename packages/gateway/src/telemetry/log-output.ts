import type { EventEmitter } from "node:events";
import type { DestinationStream } from "pino";

/** The destination of log lines: a stream, or any object that takes a line. */
export type LogDestination = DestinationStream & { readonly isTTY?: boolean };

/** An output that never throws or blocks. */
export type LogOutput = {
  write(line: string): void;
  /** Lines that were not written: the output failed, or did not keep up. */
  readonly dropped: number;
  /** Waits at most this long; resolves with true when all accepted lines are written. */
  flush(milliseconds: number): Promise<boolean>;
};

/** The part of a writable stream that is used here. */
type LineStream = LogDestination &
  Pick<EventEmitter, "on" | "listeners"> & {
    readonly writableLength: number;
    write(line: string, done: (error?: Error | null) => void): boolean;
  };

/** Bytes that may wait for a slow reader; a few thousand lines. */
const MAX_QUEUED_BYTES = 1024 * 1024;

/** Without a listener, a full disk or a closed pipe would end the process. */
const IGNORE = (): void => {};

/**
 * Writes lines on a best-effort basis: a gateway must not stop because its log fails.
 *
 * Every line is tried, so that the first line after a full disk has room again is written; standard
 * output survives its own errors. Lines that a pipe does not accept wait in order, up to a limit.
 */
export function createLogOutput(destination: LogDestination): LogOutput {
  if (!isStream(destination)) return createPlainOutput(destination);
  if (!destination.listeners("error").includes(IGNORE)) destination.on("error", IGNORE);
  let dropped = 0;
  let pending = 0;
  let isTorn = false;
  let whenWritten: (() => void) | undefined;
  const settle = (error?: Error | null): void => {
    pending -= 1;
    if (error !== undefined && error !== null) {
      dropped += 1;
      isTorn = true;
    }
    if (pending === 0) whenWritten?.();
  };
  return {
    write: (line) => {
      if (destination.writableLength + Buffer.byteLength(line) > MAX_QUEUED_BYTES) {
        dropped += 1;
        return;
      }
      pending += 1;
      // A disk that fills up takes part of a line: the next line must start on a new one.
      const text = isTorn ? `\n${line}` : line;
      isTorn = false;
      destination.write(text, settle);
    },
    get dropped() {
      return dropped;
    },
    flush: async (milliseconds) => {
      if (pending === 0) return true;
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        whenWritten = resolve;
        timer = setTimeout(resolve, milliseconds);
      });
      clearTimeout(timer);
      whenWritten = undefined;
      return pending === 0;
    },
  };
}

function createPlainOutput(destination: LogDestination): LogOutput {
  return {
    write: (line) => destination.write(line),
    dropped: 0,
    flush: async () => true,
  };
}

function isStream(destination: LogDestination): destination is LineStream {
  return "writableLength" in destination && "on" in destination;
}
