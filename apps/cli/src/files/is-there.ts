import { statSync } from "node:fs";

/** What a system says when nothing is at a path. */
const ABSENT: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR"]);

/** Whether something is at a path; where this user may not even look is no answer, and thrown as such. */
export function isThere(path: string): boolean {
  try {
    statSync(path);
    return true;
  } catch (error) {
    if (ABSENT.has((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
}
