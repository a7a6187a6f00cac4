import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { formatRevocation, parseRevocations } from "@countersign/capability";
import type { Revocation } from "@countersign/capability";
import { CountersignError, isCountersignError } from "@countersign/core";
import { assertFileState, readRegularFile } from "../base/files.js";
import "../base/errors.js";

/** Maximum size of a revocation file: about 800,000 of our own ids. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

const LINE_BREAK = 0x0a;

/**
 * Reads all revocations from a file.
 *
 * @throws CountersignError `ERR_CAPABILITY_REVOCATION_LINE` with file and line, `ERR_FILE_*`
 */
export function readRevocationFile(file: string): Revocation[] {
  const text = readRegularFile(file, MAX_FILE_BYTES).toString("utf8");
  try {
    return parseRevocations(text);
  } catch (error) {
    if (!isCountersignError(error, "ERR_CAPABILITY_REVOCATION_LINE")) throw error;
    const { line } = error.facts;
    const message = `${file}:${line}: expected one revocation on a line of its own`;
    throw new CountersignError("ERR_CAPABILITY_REVOCATION_LINE", message, { line });
  }
}

/**
 * Appends a revocation on its own line and resolves when it is flushed to disk.
 *
 * @throws CountersignError `ERR_REVOCATIONS_FILE`
 */
export async function appendRevocation(file: string, revocation: Revocation): Promise<void> {
  const line = formatRevocation(revocation);
  try {
    await append(file, line);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CountersignError(
      "ERR_REVOCATIONS_FILE",
      `revoked at this gateway until it stops, but not saved: cannot write ${file} (${code ?? message})`,
      { file },
    );
  }
}

async function append(file: string, line: string): Promise<void> {
  const { O_RDWR, O_APPEND, O_CREAT, O_NONBLOCK = 0 } = constants;
  const handle = await open(file, O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK);
  try {
    // A pipe would store nothing.
    const state = await handle.stat();
    assertFileState(file, state);
    // An editor or an interrupted write may have left the last line without a newline.
    const isOpen = state.size > 0 && (await byteAt(handle, state.size - 1)) !== LINE_BREAK;
    await handle.writeFile(isOpen ? `\n${line}` : line);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function byteAt(handle: FileHandle, position: number): Promise<number | undefined> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(1), 0, 1, position);
  return bytesRead === 1 ? buffer[0] : undefined;
}
