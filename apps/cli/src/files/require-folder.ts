import { dirname } from "node:path";
import { isThere } from "./is-there.js";

/**
 * Says before long work that a file named by an option could not be written after it.
 *
 * @throws TypeError when the file's folder is not there
 */
export function requireFolder(option: string, file: string | true | undefined): void {
  if (typeof file !== "string" || isThere(dirname(file))) return;
  throw new TypeError(`${option} ${file}: the folder ${dirname(file)} is not there`);
}
