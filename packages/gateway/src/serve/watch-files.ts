import { statesOf } from "../base/files.js";
import type { FileStates } from "../base/files.js";

/** Watches files until it is stopped. */
export type FileWatch = { stop(): void };

const INTERVAL_MS = 500;

/**
 * Calls back when the state of a file differs from `seen` and has been stable for one interval. The callback reads
 * the files again, which updates `seen`.
 *
 * It polls each path instead of using kernel events: editors replace files by renaming, Kubernetes swaps a symbolic
 * link two folders up, and network file systems send no events. The reader takes `seen` before it reads, so that no
 * write during or after the read is missed, however late the watch begins.
 */
export function watchFiles(
  seen: () => FileStates,
  onChange: () => void,
  intervalMs: number = INTERVAL_MS,
): FileWatch {
  let last = fingerprint(seen());
  const timer = setInterval(() => {
    // The new content may name other files than before.
    const now = fingerprint(statesOf(seen().keys()));
    const isStill = now === last;
    last = now;
    if (isStill && now !== fingerprint(seen())) onChange();
  }, intervalMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

function fingerprint(states: FileStates): string {
  return [...states.values()].join("\n");
}
