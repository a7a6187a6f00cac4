import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CountersignError } from "@countersign/core";
import { createSigner, exportPrivateKeyPem } from "@countersign/core/sign";
import type { Ed25519Key } from "@countersign/core/sign";
import {
  createNoteKey,
  encodeKeyRecord,
  encodeKeyText,
  encodeVkey,
  extendKeyHistory,
  parseKeyHistory,
  startKeyHistory,
} from "@countersign/receipts";
import { readRegularFile } from "../base/files.js";
import "../base/errors.js";
import { replaceFile, writeNewFile } from "./write-file.js";
import { hkdfSync } from "node:crypto";
import { createLogSeal } from "@countersign/receipts/log";
import type { LogSeal } from "@countersign/receipts/log";

/** Files with the public data of a key directory: the key history and the log's verification key. */
export const KEY_FILES = {
  history: "keys.jsonl",
  vkey: "log.vkey",
  /** A copy of the last signed checkpoint. */
  checkpoint: "last-checkpoint",
} as const;

/** Room for 10,000 lines. */
const MAX_HISTORY_BYTES = 16 * 1024 * 1024;

/** Reads the history from the directory. */
export function readHistory(directory: string): string {
  return readRegularFile(join(directory, KEY_FILES.history), MAX_HISTORY_BYTES).toString("utf8");
}

/** Creates the history with the first key, or checks that the key in use is its last one. */
export async function openKeyHistory(
  directory: string,
  key: Ed25519Key,
  facts: { firstEntry: number; now: number },
): Promise<void> {
  const file = join(directory, KEY_FILES.history);
  if (!existsSync(file)) {
    const record = await startKeyHistory(createSigner(key), {
      createdAt: facts.now,
      firstEntry: facts.firstEntry,
    });
    await writeNewFile(file, `${encodeKeyRecord(record)}\n`, 0o644);
    return;
  }
  assertKeyHistory(directory, key);
}

/** Rejects a history that does not end with the key in use; a missing history is accepted. */
export function assertKeyHistory(directory: string, key: Ed25519Key | undefined): void {
  const file = join(directory, KEY_FILES.history);
  if (!existsSync(file)) return;
  const last = parseKeyHistory(readHistory(directory)).at(-1);
  if (key !== undefined && last?.key === encodeKeyText(key.publicKey)) return;
  throw new CountersignError(
    "ERR_KEYS_HISTORY",
    `${file} does not end with the key in use; \`countersign keys new --rotate\` hands over properly`,
    { file },
  );
}

/** Appends the record in which the old key hands over to the new one. */
export async function handOverKey(
  directory: string,
  keys: { old: Ed25519Key; next: Ed25519Key },
  facts: { firstEntry: number; now: number },
): Promise<void> {
  const file = join(directory, KEY_FILES.history);
  const text = readHistory(directory);
  const last = parseKeyHistory(text).at(-1);
  if (last === undefined)
    throw new CountersignError("ERR_KEYS_HISTORY", `${file} is empty`, { file });
  const record = await extendKeyHistory(last, createSigner(keys.old), createSigner(keys.next), {
    createdAt: facts.now,
    firstEntry: facts.firstEntry,
    retires: [keys.old.publicKey],
  });
  // With a truncated history no export would verify.
  await replaceFile(file, `${text.trimEnd()}\n${encodeKeyRecord(record)}\n`);
}

/** Writes the log's verification key for exports and auditors. */
export async function writeLogKey(
  directory: string,
  origin: string,
  key: Ed25519Key,
): Promise<string> {
  const vkey = encodeVkey(createNoteKey(origin, key.publicKey));
  await writeFile(join(directory, KEY_FILES.vkey), `${vkey}\n`);
  return vkey;
}

const KEY_BYTES = 32;

/** The seal of a log. Its key is derived from the checkpoint key, whose holder can sign for the log anyway. */
export function logSealOf(checkpointKey: Ed25519Key, origin: string): LogSeal {
  const secret = exportPrivateKeyPem(checkpointKey);
  const key = hkdfSync("sha256", secret, "", "countersign.log-seal.v1", KEY_BYTES);
  return createLogSeal(new Uint8Array(key), origin);
}
