import { statSync } from "node:fs";
import { dirname } from "node:path";

/** System codes for a missing path. */
const ABSENT: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR"]);

/** Whether a path exists. Throws when this user may not look, because the answer is then unknown. */
export function pathExists(path: string): boolean {
  try {
    statSync(path);
    return true;
  } catch (error) {
    if (ABSENT.has((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
}

/**
 * Says before long work that a file named by an option could not be written after it.
 *
 * @throws TypeError when the file's folder is not there
 */
export function requireFolder(option: string, file: string | true | undefined): void {
  if (typeof file !== "string" || pathExists(dirname(file))) return;
  throw new TypeError(`${option} ${file}: the folder ${dirname(file)} does not exist`);
}
