import type { Writable } from "node:stream";

/** The exit of a command whose output has no reader. */
export type ExitHandlers = {
  /** Called on an output error other than a closed reader. */
  readonly report: (error: Error) => number;
  readonly exit: (code: number) => void;
};

/**
 * Ends a command quietly when the reader of its output exits, as `head` does. The exit code is the one the
 * command would have had. A long-running command continues.
 */
export function endWithReader(
  streams: readonly Writable[],
  { report, exit }: ExitHandlers,
  staysWithout = false,
): void {
  for (const stream of streams) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (staysWithout) return;
      exit(error.code === "EPIPE" ? Number(process.exitCode ?? 0) : report(error));
    });
  }
}
