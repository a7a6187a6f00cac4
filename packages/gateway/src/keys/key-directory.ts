import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CountersignError, encodeBase64Url, equalBytes, sha256 } from "@countersign/core";
import { exportPrivateKeyPem, generateKey, importPrivateKey } from "@countersign/core/sign";
import type { Ed25519Key } from "@countersign/core/sign";
import "./errors.js";

/** The keys a gateway signs with, each for one purpose. */
export type KeyPurpose = "receipts" | "checkpoint" | "issuer";

const OWNER_ONLY = 0o600;

/** The key of a purpose, made and kept where only its owner can read it when there is none yet. */
export async function openKey(directory: string, purpose: KeyPurpose): Promise<Ed25519Key> {
  const file = join(directory, `${purpose}.pem`);
  if (existsSync(file)) return readKey(file);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const key = generateKey();
  // `wx` fails when somebody else made the file in the meantime: two keys would split the log.
  await writeFile(file, exportPrivateKeyPem(key), { mode: OWNER_ONLY, flag: "wx" });
  return key;
}

/** The private key in a file; what is wrong with it is told with its path, never with its content. */
export async function readKey(file: string): Promise<Ed25519Key> {
  try {
    return importPrivateKey(await readFile(file, "utf8"));
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

/** What guards the control plane. */
export type AdminToken = {
  /** The token itself, only when it was made just now. */
  readonly fresh: string | undefined;
  matches(token: string): boolean;
  /** Writes a fresh one down; until then a start that fails leaves nothing that nobody was shown. */
  keep(): Promise<void>;
};

/** The admin token: made once, shown once, kept as a hash. */
export async function openAdminToken(directory: string): Promise<AdminToken> {
  const file = join(directory, "admin-token.sha256");
  const fresh = existsSync(file) ? undefined : encodeBase64Url(randomBytes(32));
  const expected =
    fresh === undefined ? (await readFile(file, "utf8")).trim() : encodeBase64Url(sha256(fresh));
  const bytes = new TextEncoder().encode(expected);
  return {
    fresh,
    keep: async () => {
      if (fresh === undefined) return;
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await writeFile(file, expected, { mode: OWNER_ONLY, flag: "wx" });
    },
    matches: (token) => equalBytes(new TextEncoder().encode(encodeBase64Url(sha256(token))), bytes),
  };
}
