import { existsSync } from "node:fs";
import { join } from "node:path";
import { assertIntact } from "@countersign/receipts/log";
import type { ReceiptStore } from "@countersign/receipts/log";
import { openReadOnlyDatabase } from "@countersign/receipts/sqlite";
import type { GatewayConfig } from "../config/config.js";
import { assertRegularFile } from "../base/files.js";
import { readRetiredIssuers } from "../keys/issuer-rotation.js";
import { openAdminToken, readKey } from "../keys/key-directory.js";
import { assertKeyHistory, KEY_FILES, logSealOf } from "../keys/key-history.js";
import type { AcceptedMissing } from "./own-log.js";
import { assertLedgerIn } from "./open-ledger.js";
import { assertOwnLogIn } from "./own-log.js";
import { assertNewestHistory } from "./stored-history.js";

/** Refuses keys with which no gateway starts; writes nothing. */
export async function assertKeysStart(directory: string): Promise<void> {
  for (const name of Object.values(KEY_FILES)) assertRegularFile(join(directory, name));
  readRetiredIssuers(directory);
  await openAdminToken(directory);
  const file = join(directory, "receipts.pem");
  assertKeyHistory(directory, existsSync(file) ? await readKey(file) : undefined);
}

/** Refuses a store with which no gateway starts; writes nothing. */
export async function assertStoreStarts(
  config: GatewayConfig,
  store: ReceiptStore,
  accepted: AcceptedMissing,
): Promise<void> {
  const { keyDirectory: directory, receipts } = config;
  const { origin, store: address } = receipts;
  const isEmbedded = address.startsWith("sqlite:");
  // A gateway that joins others on a database has no checkpoint of its own yet.
  await assertOwnLogIn(directory, origin, store, accepted.has("checkpoint") || !isEmbedded);
  await assertNewestHistory(directory, store);
  const file = join(directory, "checkpoint.pem");
  const key = existsSync(file) ? await readKey(file) : undefined;
  const own =
    key === undefined ? {} : { checkpointKey: key.publicKey, seal: logSealOf(key, origin) };
  await assertIntact({ store, origin, ...own });
  if (isEmbedded) await assertDatabase(join(address.slice("sqlite:".length), "foreign.sqlite"));
  const { size } = await store.head();
  await assertLedgerIn(config, { entries: size, acceptsMissing: accepted.has("ledger") });
}

async function assertDatabase(file: string): Promise<void> {
  if (!existsSync(file)) return;
  const database = await openReadOnlyDatabase(file);
  try {
    database.prepare("PRAGMA schema_version").get();
  } finally {
    database.close();
  }
}
