import { createSigner } from "@countersign/core/sign";
import { openLog } from "@countersign/receipts/log";
import type { ReceiptLog, ReceiptStore } from "@countersign/receipts/log";
import { openPostgresStore } from "@countersign/receipts/postgres";
import { createSigningPool } from "@countersign/receipts/sign";
import { openSqliteStore } from "@countersign/receipts/sqlite";
import type { GatewayConfig } from "../config/config.js";
import { openKey } from "../keys/key-directory.js";
import { openKeyHistory, writeLogKey } from "../keys/key-history.js";
import { createTelemetry } from "../telemetry/telemetry.js";
import type { Telemetry } from "../telemetry/telemetry.js";
import { watchStore } from "../telemetry/watched-store.js";
import { assertOwnLog } from "./own-log.js";
import { rememberCheckpoints } from "./remembered-head.js";

/** The log receipts are appended to, and the store that answers questions about it. */
export type OpenReceipts = {
  readonly log: ReceiptLog;
  readonly store: ReceiptStore;
  /** Entries the index covers, where the store has an index of its own. */
  indexed(): Promise<number> | undefined;
};

/** Opens the store the configuration names, with the keys beside it. */
export async function openReceipts(
  config: GatewayConfig,
  telemetry: Telemetry = createTelemetry(),
): Promise<OpenReceipts> {
  const { store: address, origin, durability, sign } = config.receipts;
  const key = await openKey(config.keyDirectory, "receipts");
  const checkpointKey = await openKey(config.keyDirectory, "checkpoint");
  const opened = await openStore(address, origin);
  const store = watchStore(rememberCheckpoints(opened, config.keyDirectory), telemetry);
  try {
    await assertOwnLog({ directory: config.keyDirectory, origin, key: checkpointKey }, store);
  } catch (error) {
    await store.close();
    throw error;
  }
  const { size } = await store.head();
  await openKeyHistory(config.keyDirectory, key, { firstEntry: size, now: Date.now() });
  await writeLogKey(config.keyDirectory, origin, checkpointKey);
  const log = await openLog({
    store,
    signer: await createSigningPool(key),
    checkpointSigner: createSigner(checkpointKey),
    origin,
    durability,
    sign,
  });
  return {
    log,
    store,
    indexed: () => opened.indexed?.(),
  };
}

type OpenedStore = ReceiptStore & { indexed?(): Promise<number> };

function openStore(address: string, origin: string): Promise<OpenedStore> {
  return address.startsWith("sqlite:")
    ? openSqliteStore({ directory: address.slice("sqlite:".length) })
    : openPostgresStore({ url: address, log: origin });
}
