import { statSync } from "node:fs";

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
