import { readSync } from "node:fs";
import { CountersignError } from "@countersign/core";
import { readRegularFile } from "@countersign/gateway";

/** More than any policy, key, receipt or list of cases has a reason to be. */
const MAX_BYTES = 64 * 1024 * 1024;
const STEP_BYTES = 64 * 1024;
const WAIT_MS = 10;

/**
 * Reads a file, or standard input for `-`, up to a limit; a system error always names the file. The path must
 * be a regular file: a pipe without a writer would block, and a device never ends.
 */
export function readBytes(file: string, maxBytes = MAX_BYTES): Buffer {
  try {
    return file === "-" ? readStandardInput(maxBytes) : readRegularFile(file, maxBytes);
  } catch (error) {
    throw withPath(error, file);
  }
}

/** The text of a file, or of standard input for `-`. */
export function readText(file: string, maxBytes?: number): string {
  return readBytes(file, maxBytes).toString("utf8");
}

function readStandardInput(maxBytes: number): Buffer {
  const parts: Buffer[] = [];
  for (let total = 0; ;) {
    const part = Buffer.allocUnsafe(STEP_BYTES);
    const length = readInput(part);
    if (length === 0) return Buffer.concat(parts, total);
    total += length;
    if (total > maxBytes) {
      const message = `standard input is larger than ${maxBytes} bytes`;
      throw new CountersignError("ERR_FILE_TOO_LARGE", message, { file: "-", limit: maxBytes });
    }
    parts.push(part.subarray(0, length));
  }
}

/** Standard input may be a pipe that does not wait: then there is something later, or it ends. */
function readInput(part: Buffer): number {
  for (;;) {
    try {
      return readSync(0, part);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EOF") return 0;
      if (code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
    }
  }
}

/** The error with the path it is about: what fails only when it is read, as a folder does, comes without. */
export function withPath(error: unknown, path: string): unknown {
  if (error instanceof Error && "syscall" in error && !("path" in error)) {
    return Object.assign(error, { path });
  }
  return error;
}
