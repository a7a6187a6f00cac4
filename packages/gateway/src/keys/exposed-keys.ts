import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Rights of the group and of everybody else. */
const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;
/** In a directory with it, nobody replaces what is another's: how orchestrators mount secrets. */
const STICKY = 0o1000;

/** Keys in use, retired and still to come; certificates that somebody put beside them are no secret. */
const PRIVATE_KEY = /^(?:receipts|checkpoint|issuer)(?:-.+)?\.pem$/u;
/** Who writes it chooses the admin token. */
const ADMIN_HASH = "admin-token.sha256";

/** A private key that others than its owner may read or change, or the place of one that they may change. */
export type ExposedKey = {
  readonly file: string;
  readonly mode: string;
  /** What others can do. */
  readonly rights: "read" | "changed";
  readonly remedy: "chmod 600" | "chmod 700";
};

/**
 * What of a key directory lets others in, by its mode. Told and no failure: some mounts, as those of orchestrators,
 * cannot do better. On Windows there is nothing, because its modes do not tell.
 */
export function findExposedKeys(directory: string): ExposedKey[] {
  if (process.platform === "win32") return [];
  const keys = namesIn(directory).filter((name) => PRIVATE_KEY.test(name));
  const mode = modeOf(directory);
  return [
    // Who can rename in it can put keys and an admin token of their own in place of ours.
    ...((mode & OTHERS_WRITE) === 0 || (mode & STICKY) !== 0
      ? []
      : [exposed(directory, "changed", "chmod 700")]),
    ...[join(directory, ADMIN_HASH)]
      .filter((file) => (modeOf(file) & OTHERS_WRITE) !== 0)
      .map((file) => exposed(file, "changed", "chmod 600")),
    ...keys
      .map((name) => join(directory, name))
      .filter((file) => (modeOf(file) & OTHERS) !== 0)
      .map((file) => exposed(file, "read", "chmod 600")),
  ];
}

function modeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
}

function exposed(
  file: string,
  rights: ExposedKey["rights"],
  remedy: ExposedKey["remedy"],
): ExposedKey {
  const mode = (modeOf(file) & 0o777).toString(8).padStart(4, "0");
  return { file, mode, rights, remedy };
}

/** None when it is not there, or may be entered but not listed: whoever needs a key finds out when it is opened. */
function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch {
    return [];
  }
}
