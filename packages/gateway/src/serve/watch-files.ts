import { statesOf } from "../base/file-states.js";
import type { FileStates } from "../base/file-states.js";

/** Watches some files until it is stopped. */
export type FileWatch = { stop(): void };

const INTERVAL_MS = 500;

/**
 * Calls back when any of the files looks different from what was seen of it before it was read, and has then been still
 * for one interval; whoever is called reads them again, and so sees them anew.
 *
 * It asks for the state of each path instead of listening to the kernel: editors replace files by renaming,
 * Kubernetes swaps a symbolic link two folders up, and network file systems tell nobody. What was seen comes from the
 * reader, so that nothing written while or after it read is missed, however much later the watch begins.
 */
export function watchFiles(
  seen: () => FileStates,
  onChange: () => void,
  intervalMs: number = INTERVAL_MS,
): FileWatch {
  let last = fingerprint(seen());
  const timer = setInterval(() => {
    // What is read may name other files than before.
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
