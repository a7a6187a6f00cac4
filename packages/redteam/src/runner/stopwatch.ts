import { CountersignError } from "@countersign/core";
import type { RunnerTimeouts } from "./options.js";

/** One wait at a time, named after its limit. */
export type Stopwatch = { expect(limit: keyof RunnerTimeouts): void; stop(): void };

/** Calls back with a coded error when what is expected does not come in time. */
export function createStopwatch(
  timeouts: RunnerTimeouts,
  onLate: (error: CountersignError) => void,
): Stopwatch {
  let timer: NodeJS.Timeout | undefined;
  return {
    expect(limit) {
      clearTimeout(timer);
      const milliseconds = timeouts[limit];
      timer = setTimeout(() => onLate(timeoutError(limit, milliseconds)), milliseconds);
    },
    stop: () => clearTimeout(timer),
  };
}

/** The error of a limit on time. */
export function timeoutError(limit: string, milliseconds: number): CountersignError {
  return new CountersignError(
    "ERR_REDTEAM_TIMEOUT",
    `the target took longer than the ${limit} limit of ${milliseconds} ms`,
    { limit, milliseconds },
  );
}

/** The error of a connection; the cause is a system code such as `ECONNREFUSED`, never traffic. */
export function connectionError(error: unknown): CountersignError {
  const code =
    error instanceof Error && "code" in error && typeof error.code === "string"
      ? error.code
      : "unknown";
  return new CountersignError("ERR_REDTEAM_CONNECTION", `the connection failed: ${code}`, {
    cause: code,
  });
}
