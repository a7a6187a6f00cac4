import { CountersignError } from "@countersign/core";
import { statSync } from "node:fs";
import { readRegularFile } from "../base/read-regular-file.js";
import type { Clock } from "../base/ports.js";
import type { Journal } from "../base/journal.js";
import { KEY_HASH } from "./api-keys.js";
import type { ApiKeyEntry, ApiKeyList } from "./api-keys.js";
import "./errors.js";

/** Keys of one list; each is compared with every credential. */
export const MAX_API_KEYS = 1000;
/** Bytes of a list: that many keys, with a comment to each. */
const MAX_LIST_BYTES = 1024 * 1024;
const LOOK_AGAIN_MS = 1000;
const NAME = /^[\w.@-]{1,128}$/;

/** Reads lines of `NAME sha256:HEX`; empty lines and those that begin with `#` say nothing. */
export function parseKeyFile(text: string, file: string): ApiKeyEntry[] {
  const entries: ApiKeyEntry[] = [];
  text.split(/\r?\n/).forEach((raw, index) => {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) return;
    const [name = "", hash = "", ...rest] = line.split(/\s+/);
    const isSound = NAME.test(name) && KEY_HASH.test(hash) && rest.length === 0;
    if (!isSound || entries.length >= MAX_API_KEYS) {
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

/** The keys in a file. */
export function readKeyFile(file: string): ApiKeyEntry[] {
  return parseKeyFile(readRegularFile(file, MAX_LIST_BYTES).toString("utf8"), file);
}

/**
 * A list that follows its file: a line taken out is a key revoked, within about a second.
 *
 * A file that is gone means nobody; one that cannot be read as a list leaves the last good one in force,
 * because half-written files happen, and is tried again at every look.
 */
export function createKeyFile(
  file: string,
  clock: Clock,
  journal: Journal,
  read: (file: string) => readonly ApiKeyEntry[] = readKeyFile,
): ApiKeyList {
  // Before what it is the version of is read: what is written meanwhile counts as new.
  let version = versionOf(file);
  if (version === undefined) {
    throw new CountersignError("ERR_ACCESS_KEY_LIST", `${file} is not there`, { file, line: 0 });
  }
  let entries = read(file);
  let lookedAt = clock.now();
  /** Why the newest list could not be read: told once, not at every look. */
  let told: string | undefined;
  return () => {
    const now = clock.now();
    if (Math.abs(now - lookedAt) < LOOK_AGAIN_MS) return entries;
    lookedAt = now;
    try {
      const found = versionOf(file);
      if (found !== version) {
        entries = found === undefined ? [] : read(file);
        version = found;
        journal.info({ file, keys: entries.length }, "API keys read again");
      }
      told = undefined;
    } catch (error) {
      const reason = (error as Error).message;
      if (reason !== told) {
        journal.warn(
          { file, reason },
          "API keys could not be read again; the last good list stays",
        );
      }
      told = reason;
    }
    return entries;
  };
}

/** Nothing for a file that is not there; throws when the system does not let us look. */
function versionOf(file: string): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  return `${found.mtimeMs}:${found.ctimeMs}:${found.size}:${found.ino}`;
}
