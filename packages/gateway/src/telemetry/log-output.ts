import type { EventEmitter } from "node:events";
import type { DestinationStream } from "pino";

/** Where lines of the log go: a stream, or anything that takes a line. */
export type LogDestination = DestinationStream & { readonly isTTY?: boolean };

/** An output that never harms whoever writes to it. */
export type LogOutput = {
  write(line: string): void;
  /** Lines that were not written: the output failed, or did not keep up. */
  readonly dropped: number;
  /** Whether all that was taken is written; waits no longer than this. */
  flush(milliseconds: number): Promise<boolean>;
};

/** The part of a writable stream that is used here. */
type LineStream = LogDestination &
  Pick<EventEmitter, "on" | "listeners"> & {
    readonly writableLength: number;
    write(line: string, done: (error?: Error | null) => void): boolean;
  };

/** What may wait for a reader that does not read; a few thousand lines. */
const MAX_QUEUED_BYTES = 1024 * 1024;

/** Without a listener, a full disk or a reader that went away would end the process. */
const IGNORE = (): void => {};

/**
 * Writes lines as well as it can: a gateway must not end because its log cannot be kept.
 *
 * Every line is tried, so that the first after the disk has room again is there; standard output survives its own
 * errors. What a pipe does not take waits in order, up to a bound.
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
      // A disk that fills up takes the first half of a line: the next one must not be glued to it.
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
