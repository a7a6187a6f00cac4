import { lstatSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { equalBytes } from "@countersign/core";
import { KEY_FILES } from "@countersign/gateway";
import { parseCheckpoint, parseNote } from "@countersign/receipts";
import type { ReceiptStore } from "@countersign/receipts/log";
import { failed, held, skipped } from "@countersign/receipts/verify-node";
import type { Check } from "@countersign/receipts/verify";
import { pathExists } from "../../files/path-exists.js";
import { readText } from "../../files/read-file.js";
import { storeDirectory } from "./location.js";
import type { Location } from "./location.js";

/** A file that belongs to a log with entries, and what cannot be told without it. */
type Part = { readonly file: string; readonly why: string };

/** System codes for a path that no user can open. */
const ABSENT: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);
const LOOKS = 5;
const BETWEEN_LOOKS_MS = 200;
const FIX =
  "Fix: name the gateway's directories with --store and --keys; if they are right, the file was removed: restore it from a backup";

/** Whether an embedded store was ever written to, whatever is left of it. */
export function wasWritten(directory: string): boolean {
  const inFolder = (name: string): boolean => {
    const folder = join(directory, name);
    if (!pathExists(folder) || !statSync(folder).isDirectory()) return false;
    // A link counts: a store holds none.
    return readdirSync(folder).some((file) => lstatSync(join(folder, file)).size > 0);
  };
  return ["segments", "hashes"].some(inFolder) || isFilled(join(directory, "sealed"));
}

/** Whether a checkpoint is the one of the empty log that a first start keeps beside the keys. */
export function isOfEmptyLog(checkpoint: string): boolean {
  try {
    return parseCheckpoint(parseNote(checkpoint).text).size === 0;
  } catch {
    return false;
  }
}

/** The parts that existed when the store was read. */
export type PartsContext = {
  /** The log has entries, or had some. */
  readonly isBegun: boolean;
  /** The operator named a checkpoint that the log must go on from. */
  readonly hasOlder: boolean;
  /** The checkpoint beside the keys. */
  readonly remembered: string | undefined;
};

/**
 * Whether everything is there that a gateway writes before the first entry of a log, or with its first checkpoint. A log
 * with entries that lacks a part has lost it. Undefined for a log that was never begun: nothing belongs to it yet.
 */
export function checkParts(place: Location, context: PartsContext): Check | undefined {
  if (!context.isBegun) return undefined;
  const missing = requiredParts(place, context).filter(({ file }) => !isFilled(file));
  if (missing.length > 0) {
    const list = missing.map(({ file, why }) => `${file} is missing or empty: ${why}`);
    return failed("store-parts", `${list.join("; ")}. ${FIX}`);
  }
  if (context.remembered === undefined && !context.hasOlder) {
    const file = join(place.keyDirectory, KEY_FILES.checkpoint);
    return skipped("store-parts", `${file} is missing: a lost end of the log shows only with it`);
  }
  return differentHistory(place) ?? held("store-parts", "");
}

function requiredParts(place: Location, { hasOlder, remembered }: PartsContext): Part[] {
  const key = (file: string, why: string): Part => ({ file: join(place.keyDirectory, file), why });
  const keys = [
    key(KEY_FILES.history, "nothing says which keys may sign receipts"),
    key(KEY_FILES.vkey, "nothing says which key signs checkpoints"),
  ];
  const directory = storeDirectory(place);
  // A gateway that joins others on a database keeps no checkpoint before its first.
  if (directory === undefined) return keys;
  const part = (file: string, why: string): Part => ({ file: join(directory, file), why });
  if (!hasOlder) keys.push(key(KEY_FILES.checkpoint, "a log that lost its end looks whole"));
  const parts = [
    ...keys,
    part("keys.jsonl", "a retired key could sign again"),
    part(
      "ledger/ledger.sqlite",
      "the gateway forgets owners of sessions, blocked content and approvals",
    ),
  ];
  // Killed before its first checkpoint, a gateway leaves entries, and the checkpoint of the empty log beside the keys.
  if (remembered !== undefined && isOfEmptyLog(remembered)) return parts;
  const proof = "nothing signed says what the entries were";
  return [...parts, part("checkpoint", proof), part("sealed", proof)];
}

/** The store and the key directory keep the same key history: a gateway writes both when it starts, and a rotation does. */
function differentHistory(place: Location): Check | undefined {
  const directory = storeDirectory(place);
  if (directory === undefined) return undefined;
  const [own, stored] = [place.keyDirectory, directory].map((folder) =>
    readText(join(folder, KEY_FILES.history)),
  ) as [string, string];
  if (own === stored) return undefined;
  const files = [directory, place.keyDirectory].map((folder) => join(folder, KEY_FILES.history));
  return failed(
    "store-parts",
    `${files.join(" and ")} differ: one was changed, one is an older copy, or a key rotation was interrupted. ` +
      "Fix: restore the changed file, or complete the rotation (countersign keys new --rotate)",
  );
}

/**
 * Whether a file exists and is not empty. Throws when this user may not look, because the answer is then
 * unknown.
 */
function isFilled(file: string): boolean {
  try {
    return statSync(file).size > 0;
  } catch (error) {
    if (ABSENT.has((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
}

/**
 * Fails for bytes behind the last commit that stay as they are: a gateway that writes completes its flush between two
 * looks.
 */
export async function checkUncommitted(store: ReceiptStore): Promise<Check | undefined> {
  const first = await store.readUncommitted?.();
  if (first === undefined) return undefined;
  for (let look = 1; look < LOOKS; look += 1) {
    await delay(BETWEEN_LOOKS_MS);
    const next = await store.readUncommitted?.();
    if (next?.position !== first.position || !equalBytes(next.bytes, first.bytes)) return undefined;
  }
  return failed(
    "beyond-checkpoint",
    `bytes at position ${first.position} of the segments belong to no commit: the log was changed, or a crash interrupted a write. ` +
      "Fix: keep a copy, start the gateway, which moves an interrupted write to torn/ and logs LOG_TAIL_CUT, and verify again",
  );
}
