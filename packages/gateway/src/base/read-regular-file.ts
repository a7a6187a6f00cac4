import { closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";
import type { Stats } from "node:fs";
import { CountersignError } from "@countersign/core";
import "./file-errors.js";

// Windows has no such flag and no pipes among its files.
const WITHOUT_WAITING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const STEP_BYTES = 64 * 1024;

/**
 * The bytes of a file that may be read again while the gateway works.
 *
 * A pipe without a writer would keep the whole process waiting for good, a device may never end: only a regular file
 * is read, and never more of it than `maxBytes`, also when it grows meanwhile.
 *
 * @throws CountersignError `ERR_FILE_KIND`, `ERR_FILE_TOO_LARGE`; the system's own error when it cannot be opened
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
 * Refuses what `readRegularFile` would, for readers of their own; what is not there passes.
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
 * Refuses a path that leads to something else than a file.
 *
 * @throws CountersignError `ERR_FILE_KIND`
 */
export function assertFileState(file: string, state: Stats): void {
  if (state.isFile()) return;
  const what = state.isDirectory() ? "a folder where a file is needed" : "not a regular file";
  throw new CountersignError("ERR_FILE_KIND", `${file} is ${what}`, { file });
}

function tooLarge(file: string, limit: number): CountersignError {
  const message = `${file} is larger than ${limit} bytes`;
  return new CountersignError("ERR_FILE_TOO_LARGE", message, { file, limit });
}
