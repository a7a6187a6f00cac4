import { open, rm, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { CountersignError } from "@countersign/core";
import "../base/errors.js";
import { syncDirectory } from "../base/rewrite-file.js";

/**
 * Creates a file that must not exist yet, writes it completely and flushes it to disk, or leaves nothing.
 *
 * Half a key would make every later start fail. A key must be as durable as the entries it signs.
 *
 * @throws the system's own error when the file exists, `ERR_KEYS_UNWRITABLE` for everything else
 */
export async function writeNewFile(file: string, text: string, mode: number): Promise<void> {
  const handle = await open(file, "wx", mode).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "EEXIST" ? error : unwritable(file, error);
  });
  try {
    await handle.writeFile(text);
    await handle.sync();
  } catch (error) {
    await rm(file, { force: true });
    throw unwritable(file, error as NodeJS.ErrnoException);
  } finally {
    await handle.close();
  }
  await syncDirectory(dirname(file));
}

function unwritable(file: string, { code, name }: NodeJS.ErrnoException): CountersignError {
  const message = `${file} cannot be written (${code ?? name})`;
  return new CountersignError("ERR_KEYS_UNWRITABLE", message, { file });
}

/**
 * Replaces the content of a file atomically: writes a temporary file, flushes it to disk and renames it.
 *
 * Without the flush a power loss may keep the new name and lose the content, and an empty file is worse than the old
 * one.
 */
export async function replaceFile(file: string, text: string): Promise<void> {
  const beside = `${file}.new`;
  const handle = await open(beside, "w");
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(beside, file);
}
