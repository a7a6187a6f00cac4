/** Digits of a time stamp in an event: microseconds of the machine's monotonic clock. */
export const STAMP_DIGITS = 16;

/** The first byte of every stamp; nothing else in a stream contains it. */
export const STAMP_MARK = 0x40;

/**
 * Microseconds of CLOCK_MONOTONIC. On Linux all processes read the same clock, so a stamp of the agent
 * can be subtracted from a reading of the client.
 */
export function microseconds(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e6 + nanoseconds / 1e3;
}

/** Waits. */
export function sleep(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
}
