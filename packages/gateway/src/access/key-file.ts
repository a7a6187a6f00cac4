import { CountersignError } from "@countersign/core";
import { statSync } from "node:fs";
import { readRegularFile } from "../base/files.js";
import type { Clock, Journal } from "../base/ports.js";
import { KEY_HASH } from "./api-keys.js";
import type { ApiKeyEntry, ApiKeyList } from "./api-keys.js";
import "../base/errors.js";

/** Keys in one list; each is compared with every credential. */
export const MAX_API_KEYS = 1000;
/** Size of a list in bytes: the maximum of keys, with a comment for each. */
const MAX_LIST_BYTES = 1024 * 1024;
const CHECK_MS = 1000;
const NAME = /^[\w.@-]{1,128}$/;

/** Parses lines of `NAME sha256:HEX`; empty lines and lines that begin with `#` are ignored. */
export function parseKeyFile(text: string, file: string): ApiKeyEntry[] {
  const entries: ApiKeyEntry[] = [];
  text.split(/\r?\n/).forEach((raw, index) => {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) return;
    const [name = "", hash = "", ...rest] = line.split(/\s+/);
    const isValid = NAME.test(name) && KEY_HASH.test(hash) && rest.length === 0;
    if (!isValid || entries.length >= MAX_API_KEYS) {
      throw new CountersignError(
        "ERR_ACCESS_KEY_LIST",
        `${file}:${index + 1}: expected NAME sha256:HEX, at most ${MAX_API_KEYS} lines`,
        { file, line: index + 1 },
      );
    }
    entries.push({ name, hash });
  });
  return entries;
}

/** Reads the keys from a file. */
export function readKeyFile(file: string): ApiKeyEntry[] {
  return parseKeyFile(readRegularFile(file, MAX_LIST_BYTES).toString("utf8"), file);
}

/**
 * A list that follows its file: removing a line revokes the key within about a second.
 *
 * A missing file means an empty list. An invalid file keeps the last valid list in force, because half-written files
 * happen, and is read again at every check.
 */
export function createKeyFile(
  file: string,
  clock: Clock,
  journal: Journal,
  read: (file: string) => readonly ApiKeyEntry[] = readKeyFile,
): ApiKeyList {
  const message = `${file} does not exist`;
  return followList({
    file,
    clock,
    journal,
    read,
    what: "API keys",
    missing: () => new CountersignError("ERR_ACCESS_KEY_LIST", message, { file, line: 0 }),
  });
}

/** Options of {@link followList}. */
export type FollowedList<Entry> = {
  readonly file: string;
  readonly clock: Clock;
  readonly journal: Journal;
  read(file: string): readonly Entry[];
  /** The entries in log lines. */
  readonly what: string;
  /** The error for a file that does not exist at the start. */
  missing(): CountersignError;
};

/** Follows a file with a list of credentials, as {@link createKeyFile} describes. */
export function followList<Entry>(options: FollowedList<Entry>): () => readonly Entry[] {
  const { file, clock, journal, read, what } = options;
  // Taken before the read, so that a write during the read counts as new.
  let version = versionOf(file);
  if (version === undefined) throw options.missing();
  let entries = read(file);
  let checkedAt = clock.now();
  /** The last reported read error: reported once, not at every check. */
  let reported: string | undefined;
  return () => {
    const now = clock.now();
    if (Math.abs(now - checkedAt) < CHECK_MS) return entries;
    checkedAt = now;
    try {
      const found = versionOf(file);
      if (found !== version) {
        entries = found === undefined ? [] : read(file);
        version = found;
        journal.info({ file, keys: entries.length }, `${what} reloaded`);
      }
      reported = undefined;
    } catch (error) {
      const reason = (error as Error).message;
      if (reason !== reported) {
        journal.warn(
          { file, reason },
          `the ${what} could not be reloaded; the last valid list stays active`,
        );
      }
      reported = reason;
    }
    return entries;
  };
}

/** `undefined` for a missing file; throws when the file cannot be inspected. */
function versionOf(file: string): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  return `${found.mtimeMs}:${found.ctimeMs}:${found.size}:${found.ino}`;
}
