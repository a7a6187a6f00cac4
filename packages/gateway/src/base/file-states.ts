import { realpathSync, statSync } from "node:fs";

/** The states of files just before they were read, by path. */
export type FileStates = ReadonlyMap<string, string>;

/** The current states of files. */
export function statesOf(files: Iterable<string>): FileStates {
  return new Map(Array.from(files, (file) => [file, stateOf(file)]));
}

/** Path, target, inode, size and change times: together they detect every way to replace a file. */
export function stateOf(file: string): string {
  try {
    const target = realpathSync(file);
    const { ino, size, mtimeMs, ctimeMs } = statSync(target);
    return [file, target, ino, size, mtimeMs, ctimeMs].join("|");
  } catch {
    // A missing file, perhaps during its replacement, has a state too.
    return `${file}|absent`;
  }
}
