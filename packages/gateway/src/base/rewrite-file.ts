import { randomBytes } from "node:crypto";
import { accessSync, constants, existsSync, realpathSync } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { assertFileState } from "./files.js";

/**
 * Replaces the content of a file in one step: a reader, or a start after a power loss, finds the old text or the new
 * one. The file keeps its mode and owner; a link keeps pointing to the file that it names. A missing file is created
 * for its owner only.
 *
 * @throws the system's own error; nothing is left behind then
 */
export async function rewriteFile(file: string, text: string): Promise<void> {
  const target = existsSync(file) ? realpathSync(file) : file;
  const before = existsSync(target) ? await stat(target) : undefined;
  if (before !== undefined) assertFileState(file, before);
  const beside = join(
    dirname(target),
    `.${basename(target)}.${randomBytes(6).toString("hex")}.new`,
  );
  const handle = await open(beside, "wx", 0o600);
  try {
    try {
      if (before !== undefined) {
        const made = await handle.stat();
        if (made.uid !== before.uid || made.gid !== before.gid) {
          await handle.chown(before.uid, before.gid);
        }
        await handle.chmod(before.mode & 0o7777);
      }
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(beside, target);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
  await syncDirectory(dirname(target));
}

/** Whether {@link rewriteFile} could replace a file: it and its folder can be written. */
export function isRewritable(file: string): boolean {
  try {
    const target = realpathSync(file);
    accessSync(target, constants.W_OK);
    accessSync(dirname(target), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * A file name is durable only when its directory is flushed; systems that cannot open a directory flush it themselves.
 */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, "r").catch(() => undefined);
  if (handle === undefined) return;
  try {
    await handle.sync();
  } catch {
    // Some file systems do not support flushing a directory.
  } finally {
    await handle.close();
  }
}
