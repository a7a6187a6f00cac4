import { statSync, realpathSync } from "node:fs";

/** Watches some files until it is stopped. */
export type FileWatch = { stop(): void };

const INTERVAL_MS = 500;

/**
 * Calls back once when any of the files has changed and has then been still for one interval.
 *
 * It asks for the state of each path instead of listening to the kernel: editors replace files by renaming,
 * Kubernetes swaps a symbolic link two folders up, and network file systems tell nobody. A path, its target,
 * inode, size and time of change together notice all of them.
 */
export function watchFiles(
  files: () => readonly string[],
  onChange: () => void,
  intervalMs: number = INTERVAL_MS,
): FileWatch {
  let settled = fingerprint(files());
  let last = settled;
  const timer = setInterval(() => {
    const now = fingerprint(files());
    const isStill = now === last;
    last = now;
    if (!isStill || now === settled) return;
    settled = now;
    onChange();
    // What is read may name other files than before.
    settled = fingerprint(files());
    last = settled;
  }, intervalMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

function fingerprint(files: readonly string[]): string {
  return files.map(stateOf).join("\n");
}

function stateOf(file: string): string {
  try {
    const target = realpathSync(file);
    const { ino, size, mtimeMs, ctimeMs } = statSync(target);
    return [file, target, ino, size, mtimeMs, ctimeMs].join("|");
  } catch {
    // In the middle of being replaced, or removed: a state like any other.
    return `${file}|absent`;
  }
}
