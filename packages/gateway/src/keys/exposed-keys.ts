import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Rights of the group and of everybody else. */
const OTHERS = 0o077;

/** Keys in use, retired and still to come; certificates that somebody put beside them are no secret. */
const PRIVATE_KEY = /^(?:receipts|checkpoint|issuer)(?:-.+)?\.pem$/u;

/** A private key that others than its owner may read or change. */
export type ExposedKey = { readonly file: string; readonly mode: string };

/**
 * The private keys of a directory whose mode lets others in. Told and no failure: some mounts, as those of orchestrators,
 * cannot do better. On Windows there are none, because its modes do not tell.
 */
export function findExposedKeys(directory: string): ExposedKey[] {
  if (process.platform === "win32") return [];
  return namesIn(directory)
    .filter((name) => PRIVATE_KEY.test(name))
    .map((name) => join(directory, name))
    .flatMap((file) => {
      const mode = (statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o777;
      return (mode & OTHERS) === 0 ? [] : [{ file, mode: mode.toString(8).padStart(4, "0") }];
    });
}

/** None when it is not there, or may be entered but not listed: whoever needs a key finds out when it is opened. */
function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch {
    return [];
  }
}
