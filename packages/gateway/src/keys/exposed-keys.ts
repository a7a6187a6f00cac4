import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Permissions of the group and of others. */
const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;
/** In a sticky directory, users cannot replace each other's files. Orchestrators mount secrets this way. */
const STICKY = 0o1000;

/** Current, retired and future private keys; certificates next to them are not secret. */
const PRIVATE_KEY =
  /^(?:(?:receipts|checkpoint|issuer)(?:-.+)?\.pem|(?:identity|evidence)(?:-.+)?\.key)$/u;
/** A user who can write this file chooses the admin token. */
const ADMIN_HASH = "admin-token.sha256";

/** A private key that users other than its owner can read or change, or a directory in which they can replace it. */
export type ExposedKey = {
  readonly file: string;
  readonly mode: string;
  /** The permission of other users. */
  readonly rights: "read" | "changed";
  readonly remedy: "chmod 600" | "chmod 700";
};

/**
 * Finds keys whose file mode gives access to other users. A warning, not a failure: some mounts of orchestrators allow
 * no better mode. On Windows file modes carry no information.
 */
export function findExposedKeys(directory: string): ExposedKey[] {
  if (process.platform === "win32") return [];
  const keys = namesIn(directory).filter((name) => PRIVATE_KEY.test(name));
  const mode = modeOf(directory);
  return [
    // A user who can rename files in the directory can replace the keys and the admin token.
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

/** Empty when the directory is missing or cannot be listed: opening a key then reports the error. */
function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch {
    return [];
  }
}
