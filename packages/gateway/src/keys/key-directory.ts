import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import {
  CountersignError,
  decodeBase64Url,
  encodeBase64Url,
  encodeHex,
  equalBytes,
  sha256,
} from "@countersign/core";
import { exportPrivateKeyPem, generateKey, importPrivateKey } from "@countersign/core/sign";
import type { Ed25519Key } from "@countersign/core/sign";
import { readRegularFile } from "../base/files.js";
import "../base/errors.js";
import { writeNewFile } from "./write-file.js";

/** The keys that a gateway signs with, one per purpose. */
export type KeyPurpose = "receipts" | "checkpoint" | "issuer";

const OWNER_ONLY = 0o600;
const NAME_DIGITS = 8;
/** Maximum size of a file with a key or a hash; a key has 119 bytes. */
const MAX_KEY_BYTES = 16 * 1024;

/** Reads the key of a purpose, if it exists. */
export async function findKey(
  directory: string,
  purpose: KeyPurpose,
): Promise<Ed25519Key | undefined> {
  const file = join(directory, `${purpose}.pem`);
  return existsSync(file) ? readKey(file) : undefined;
}

/** Reads the key of a purpose, or creates one that only its owner can read. */
export async function openKey(directory: string, purpose: KeyPurpose): Promise<Ed25519Key> {
  const known = await findKey(directory, purpose);
  if (known !== undefined) return known;
  const file = join(directory, `${purpose}.pem`);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const key = generateKey();
  // Fails when another process created the file in the meantime: two keys would split the log.
  await writeNewFile(file, exportPrivateKeyPem(key), OWNER_ONLY);
  return key;
}

/** Reads a private key; an error names its path and never its content. */
export async function readKey(file: string): Promise<Ed25519Key> {
  try {
    return importPrivateKey(readRegularFile(file, MAX_KEY_BYTES).toString("utf8"));
  } catch (error) {
    const why = isSystemError(error)
      ? error.code
      : "it is not the PEM form of an Ed25519 private key";
    throw new CountersignError("ERR_KEYS_UNREADABLE", `${file} cannot be used: ${why}`, { file });
  }
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error && "code" in error;
}

/** The admin token of the control plane. */
export type AdminToken = {
  /** Its name in the log: `admin-` and the first eight hex digits of its SHA-256. */
  readonly name: string;
  /** The token itself, only when it was created just now. */
  readonly fresh: string | undefined;
  matches(token: string): boolean;
  /**
   * Stores the hash of a new token. It is called late, so that a failed start stores no token that was never printed.
   */
  keep(): Promise<void>;
};

/** Reads the admin token, or creates it. The token is shown once and stored as a hash. */
export async function openAdminToken(directory: string): Promise<AdminToken> {
  const file = join(directory, "admin-token.sha256");
  const fresh = existsSync(file) ? undefined : encodeBase64Url(randomBytes(32));
  const expected = fresh === undefined ? await readHash(file) : encodeBase64Url(sha256(fresh));
  const bytes = new TextEncoder().encode(expected);
  return {
    name: `admin-${encodeHex(decodeBase64Url(expected)).slice(0, NAME_DIGITS)}`,
    fresh,
    keep: async () => {
      if (fresh === undefined) return;
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await writeNewFile(file, expected, OWNER_ONLY);
    },
    matches: (token) => equalBytes(new TextEncoder().encode(encodeBase64Url(sha256(token))), bytes),
  };
}

/** A truncated hash matches no token. It is reported at the start, because every token would be rejected later. */
async function readHash(file: string): Promise<string> {
  const text = readRegularFile(file, MAX_KEY_BYTES).toString("utf8").trim();
  if (/^[\w-]{43}$/u.test(text)) return text;
  const message = `${file} cannot be used: it is not the hash of a token; without the file a new token is made`;
  throw new CountersignError("ERR_KEYS_UNREADABLE", message, { file });
}
