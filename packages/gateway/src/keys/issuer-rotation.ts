import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { keyName } from "@countersign/capability";
import { CountersignError } from "@countersign/core";
import { exportPrivateKeyPem, generateKey } from "@countersign/core/sign";
import { readRegularFile } from "../base/files.js";
import "../base/errors.js";
import { readKey } from "./key-directory.js";
import { replaceFile, writeNewFile } from "./write-file.js";

/** Public keys of earlier issuers of this gateway, one on each line. */
export const RETIRED_ISSUERS = "issuers-retired.txt";

const MAX_BYTES = 64 * 1024;
const NAME = /^ed25519:[0-9a-f]{64}$/u;

/** The earlier issuers whose tokens are still valid until they expire. */
export function readRetiredIssuers(directory: string): readonly string[] {
  const file = join(directory, RETIRED_ISSUERS);
  if (!existsSync(file)) return [];
  const text = readRegularFile(file, MAX_BYTES).toString("utf8");
  const names = text.split("\n").filter((line) => line !== "");
  if (names.every((name) => NAME.test(name))) return names;
  const message = `${file} cannot be used: each line is the public key of an issuer, ed25519:HEX`;
  throw new CountersignError("ERR_KEYS_UNREADABLE", message, { file });
}

/** The names of the issuer before and after a rotation. */
export type IssuerRotation = { readonly old: string; readonly next: string };

/**
 * Replaces the key that signs capability tokens. Only the public half of the old key is kept, so that its tokens stay
 * valid until they expire; with `trustsOld: false` they are rejected at once.
 *
 * A second call continues after an interruption: the old key is listed before the new one is in use.
 */
export async function rotateIssuer(
  directory: string,
  { trustsOld }: { readonly trustsOld: boolean },
): Promise<IssuerRotation> {
  const inUse = join(directory, "issuer.pem");
  const old = keyName((await readKey(inUse)).publicKey);
  const nextFile = join(directory, "issuer-next.pem");
  if (!existsSync(nextFile)) {
    await writeNewFile(nextFile, exportPrivateKeyPem(generateKey()), 0o600);
  }
  const next = keyName((await readKey(nextFile)).publicKey);
  const retired = readRetiredIssuers(directory).filter((name) => name !== old);
  const kept = trustsOld ? [...retired, old] : retired;
  const file = join(directory, RETIRED_ISSUERS);
  if (kept.length > 0 || existsSync(file)) {
    await replaceFile(file, kept.map((name) => `${name}\n`).join(""));
  }
  await rename(nextFile, inUse);
  return { old, next };
}
