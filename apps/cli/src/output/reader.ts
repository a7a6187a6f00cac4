import type { Writable } from "node:stream";

/** What ends a command whose output has nowhere to go. */
export type Ending = {
  /** Told of an error of the output that is no reader's going away. */
  readonly report: (error: Error) => number;
  readonly exit: (code: number) => void;
};

/**
 * Ends a command quietly when the reader of its output goes away, as `head` does: what it has done is done, and there
 * is nobody to tell. The exit code is the one it would have had. A command that is there to run on stays.
 */
export function endWithReader(
  streams: readonly Writable[],
  { report, exit }: Ending,
  staysWithout = false,
): void {
  for (const stream of streams) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (staysWithout) return;
      exit(error.code === "EPIPE" ? Number(process.exitCode ?? 0) : report(error));
    });
  }
}
