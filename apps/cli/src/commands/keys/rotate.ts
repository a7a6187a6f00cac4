import { copyFile, constants, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CountersignError, isCountersignError } from "@countersign/core";
import { exportPrivateKeyPem, generateKey, importPrivateKey } from "@countersign/core/sign";
import type { Ed25519Key } from "@countersign/core/sign";
import {
  assertNewestHistory,
  gatewaysAlive,
  handOverKey,
  KEY_FILES,
  RETIRED_ISSUERS,
  rotateIssuer,
  shareHistory,
} from "@countersign/gateway";
import type { IssuerRotation } from "@countersign/gateway";
import { encodeKeyText, parseKeyHistory } from "@countersign/receipts";
import type { ReceiptStore } from "@countersign/receipts/log";
import { openPostgresStore } from "@countersign/receipts/postgres";
import { openSqliteStore } from "@countersign/receipts/sqlite";
import { readText } from "../../files/read-file.js";
import "../errors.js";
import { pathExists } from "../../files/path-exists.js";
import { giveToFolderOwner } from "../../files/owner.js";
import { isStoreDirectory, storeDirectory } from "../receipts/location.js";
import type { Location } from "../receipts/location.js";
import { noKeys } from "./public-keys.js";

/**
 * Replaces the receipt key; gives the file that keeps the old one. Each step leaves files from which a
 * second call goes on: the next key first, then the signed hand-over, the key in use last.
 */
export async function rotateKey(place: Location, now: number): Promise<string> {
  const inUse = join(place.keyDirectory, "receipts.pem");
  const history = join(place.keyDirectory, KEY_FILES.history);
  if (!pathExists(inUse) || !pathExists(history)) throw noKeys(place);
  return whileStopped(place, async (store) => {
    // Before anything is written: a hand-over in an older copy would be one that no store ever takes.
    if (store !== undefined) await assertNewestHistory(place.keyDirectory, store);
    const old = importPrivateKey(readText(inUse));
    const nextFile = join(place.keyDirectory, "receipts-next.pem");
    const next = await nextKey(nextFile);
    const last = parseKeyHistory(readText(history)).at(-1);
    if (last?.key !== encodeKeyText(next.publicKey)) {
      const firstEntry = store === undefined ? 0 : (await store.head()).size;
      await handOverKey(place.keyDirectory, { old, next }, { firstEntry, now });
      giveToFolderOwner(history);
    }
    // From now on no gateway starts that still has the old key only.
    if (store !== undefined) await shareHistory(place.keyDirectory, store);
    const shared = join(storeDirectory(place) ?? "", KEY_FILES.history);
    if (storeDirectory(place) !== undefined && pathExists(shared)) giveToFolderOwner(shared);
    const retired = join(place.keyDirectory, `receipts-retired-${last?.number ?? 0}.pem`);
    if (!pathExists(retired)) {
      await copyFile(inUse, retired, constants.COPYFILE_EXCL);
      giveToFolderOwner(retired);
    }
    giveToFolderOwner(nextFile);
    await rename(nextFile, inUse);
    return retired;
  });
}

/** Replaces the key that signs capability tokens. Gateways of one log need the same one, so none may run meanwhile. */
export async function rotateIssuerKey(
  place: Location,
  options: { trustsOld: boolean },
): Promise<IssuerRotation> {
  const inUse = join(place.keyDirectory, "issuer.pem");
  if (!pathExists(inUse)) throw noKeys(place);
  return whileStopped(place, async () => {
    const result = await rotateIssuer(place.keyDirectory, options);
    const retired = join(place.keyDirectory, RETIRED_ISSUERS);
    for (const file of [inUse, retired]) if (pathExists(file)) giveToFolderOwner(file);
    return result;
  });
}

async function nextKey(file: string): Promise<Ed25519Key> {
  if (pathExists(file)) return importPrivateKey(readText(file));
  const key = generateKey();
  await writeFile(file, exportPrivateKeyPem(key), { mode: 0o600, flag: "wx", flush: true });
  return key;
}

/**
 * Runs while no gateway can append: an embedded log is locked, and on PostgreSQL no gateway reports that it
 * is alive. An entry signed with the old key after the rotation would make the log invalid for good. Without
 * a log, the store does not exist either.
 */
async function whileStopped<Result>(
  place: Location,
  use: (store: ReceiptStore | undefined) => Promise<Result>,
): Promise<Result> {
  const directory = storeDirectory(place);
  if (directory === undefined) {
    const [alive] = await gatewaysAlive(place.store, place.origin);
    if (alive !== undefined) throw gatewayRuns(place, `the gateway ${alive} serves this log`);
  }
  if (directory !== undefined && !isStoreDirectory(directory)) return use(undefined);
  const store = await openForWriting(place, directory);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

function openForWriting(place: Location, directory: string | undefined): Promise<ReceiptStore> {
  if (directory === undefined) {
    return openPostgresStore({ url: place.store, log: place.origin, connections: 1 });
  }
  return openSqliteStore({ directory }).catch((error: unknown) => {
    const locked: string = "ERR_STORE_LOCKED";
    if (!isCountersignError(error) || error.code !== locked) throw error;
    throw gatewayRuns(place, "a gateway writes to this log");
  });
}

function gatewayRuns({ store }: Location, what: string): CountersignError<"ERR_CLI_GATEWAY_RUNS"> {
  const message = `${what}. Fix: stop every gateway of the log, rotate, and start them with the new key directory`;
  return new CountersignError("ERR_CLI_GATEWAY_RUNS", message, { store });
}
