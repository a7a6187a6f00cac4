import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { CountersignError, decodeBase64Url, encodeBase64Url } from "@countersign/core";
import { readRegularFile } from "../base/files.js";
import "../base/errors.js";
import { writeNewFile } from "./write-file.js";

const OWNER_ONLY = 0o600;
const KEY_BYTES = 32;
const MAX_FILE_BYTES = 1024;

/** Reads a symmetric key of 32 bytes from the key directory, if it exists. */
export function findSecretKey(directory: string, name: string): Uint8Array | undefined {
  const file = join(directory, `${name}.key`);
  if (!existsSync(file)) return undefined;
  const text = readRegularFile(file, MAX_FILE_BYTES).toString("utf8").trim();
  // A truncated key would hash or encrypt under another one without an error.
  if (/^[\w-]{43}$/u.test(text)) return decodeBase64Url(text);
  const message = `${file} cannot be used: it is not a key of 32 bytes in base64url. Fix: restore the file from a backup`;
  throw new CountersignError("ERR_KEYS_UNREADABLE", message, { file });
}

/** Reads a symmetric key, or creates one that only its owner can read. */
export async function openSecretKey(directory: string, name: string): Promise<Uint8Array> {
  const known = findSecretKey(directory, name);
  if (known !== undefined) return known;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const key = randomBytes(KEY_BYTES);
  await writeNewFile(join(directory, `${name}.key`), `${encodeBase64Url(key)}\n`, OWNER_ONLY);
  return key;
}
