import { dirname } from "node:path";
import { pathExists } from "./path-exists.js";

/**
 * Says before long work that a file named by an option could not be written after it.
 *
 * @throws TypeError when the file's folder is not there
 */
export function requireFolder(option: string, file: string | true | undefined): void {
  if (typeof file !== "string" || pathExists(dirname(file))) return;
  throw new TypeError(`${option} ${file}: the folder ${dirname(file)} is not there`);
}
