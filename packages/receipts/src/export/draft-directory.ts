import { access, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { exportError } from "./errors.js";
import { syncDirectory } from "./tree-files.js";

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}

/** Writes a directory that appears complete or not at all, also after a crash. */
export async function writeDirectory(
  directory: string,
  write: (draft: string) => Promise<void>,
): Promise<void> {
  const target = resolve(directory);
  if (await exists(target)) {
    throw exportError(
      "ERR_EXPORT_EXISTS",
      "the export directory exists already. Fix: name a new directory",
      { directory },
    );
  }
  const parent = dirname(target);
  await mkdir(parent, { recursive: true });
  const draft = await mkdtemp(join(parent, `.${basename(target)}-`));
  try {
    await write(draft);
    await syncDirectory(draft);
    await rename(draft, target);
    await syncDirectory(parent);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}
