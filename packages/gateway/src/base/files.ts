import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  statSync,
  realpathSync,
} from "node:fs";
import type { Stats } from "node:fs";
import { CountersignError } from "@countersign/core";
import "./errors.js";

// Windows has neither this flag nor named pipes in its file system.
const WITHOUT_WAITING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const STEP_BYTES = 64 * 1024;

/**
 * Reads a file, also while the gateway serves.
 *
 * A pipe without a writer would block the process forever, and a device may never end. So only a
 * regular file is read, and at most `maxBytes` of it, also when it grows meanwhile.
 *
 * @throws CountersignError `ERR_FILE_KIND`, `ERR_FILE_TOO_LARGE`; the system's own error when it
 * cannot be opened
 */
export function readRegularFile(file: string, maxBytes: number): Buffer {
  const descriptor = openSync(file, WITHOUT_WAITING);
  try {
    const state = fstatSync(descriptor);
    assertFileState(file, state);
    if (state.size > maxBytes) throw tooLarge(file, maxBytes);
    return readBounded(descriptor, file, maxBytes);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Rejects a path that `readRegularFile` would, for callers with their own reader; a missing file
 * passes.
 *
 * @throws CountersignError `ERR_FILE_KIND`
 */
export function assertRegularFile(file: string): void {
  const state = statSync(file, { throwIfNoEntry: false });
  if (state !== undefined) assertFileState(file, state);
}

function readBounded(descriptor: number, file: string, maxBytes: number): Buffer {
  const parts: Buffer[] = [];
  for (let total = 0; ;) {
    const part = Buffer.allocUnsafe(STEP_BYTES);
    const length = readSync(descriptor, part);
    if (length === 0) return Buffer.concat(parts, total);
    total += length;
    if (total > maxBytes) throw tooLarge(file, maxBytes);
    parts.push(part.subarray(0, length));
  }
}

/**
 * Rejects a path that is not a regular file.
 *
 * @throws CountersignError `ERR_FILE_KIND`
 */
export function assertFileState(file: string, state: Stats): void {
  if (state.isFile()) return;
  const what = state.isDirectory() ? "a folder, not a file" : "not a regular file";
  throw new CountersignError("ERR_FILE_KIND", `${file} is ${what}`, { file });
}

function tooLarge(file: string, limit: number): CountersignError {
  const message = `${file} is larger than ${limit} bytes`;
  return new CountersignError("ERR_FILE_TOO_LARGE", message, { file, limit });
}

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
