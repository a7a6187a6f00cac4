import { realpathSync, statSync } from "node:fs";

/** What files looked like just before they were read, by path. */
export type FileStates = ReadonlyMap<string, string>;

/** What files look like now. */
export function statesOf(files: Iterable<string>): FileStates {
  return new Map(Array.from(files, (file) => [file, stateOf(file)]));
}

/** A path, its target, inode, size and times of change: together they notice every way to replace a file. */
export function stateOf(file: string): string {
  try {
    const target = realpathSync(file);
    const { ino, size, mtimeMs, ctimeMs } = statSync(target);
    return [file, target, ino, size, mtimeMs, ctimeMs].join("|");
  } catch {
    // In the middle of being replaced, or removed: a state like any other.
    return `${file}|absent`;
  }
}
