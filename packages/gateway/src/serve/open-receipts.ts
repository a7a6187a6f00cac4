import type { OpenReceipts } from "../control/ports.js";
import { createSigner } from "@countersign/core/sign";
import type { Ed25519Key } from "@countersign/core/sign";
import { openLog, startScrub } from "@countersign/receipts/log";
import type { ReceiptStore, Scrub, ScrubOptions } from "@countersign/receipts/log";
import { openPostgresStore } from "@countersign/receipts/postgres";
import { createSigningPool } from "@countersign/receipts/sign";
import { openSqliteStore } from "@countersign/receipts/sqlite";
import type { GatewayConfig } from "../config/config.js";
import { findKey, openKey } from "../keys/key-directory.js";
import { openKeyHistory, writeLogKey, logSealOf } from "../keys/key-history.js";
import { SILENT_JOURNAL, SYSTEM_CLOCK } from "../base/ports.js";
import type { Journal } from "../base/ports.js";
import { createTelemetry } from "../telemetry/telemetry.js";
import type { Telemetry } from "../telemetry/telemetry.js";
import { watchCheckpoints, watchStore } from "../telemetry/watched-store.js";
import { openAttesting } from "./open-attesting.js";
import { NOTHING_MISSING, assertOwnLog } from "./own-log.js";
import type { AcceptedMissing, LogOwner } from "./own-log.js";
import { hasKeptCheckpoint, keepCheckpoints, keepEmptyCheckpoint } from "./kept-checkpoint.js";
import { assertNewestHistory, shareHistory } from "./stored-history.js";

/** Opens the configured store, with the keys next to it. */
export async function openReceipts(
  config: GatewayConfig,
  telemetry: Telemetry = createTelemetry(),
  journal: Journal = SILENT_JOURNAL,
  acceptedMissing: AcceptedMissing = NOTHING_MISSING,
): Promise<OpenReceipts> {
  const { store: address, origin, durability, sign } = config.receipts;
  const directory = config.keyDirectory;
  // A gateway that joins others on a database brings their keys, and has no checkpoint of its own yet.
  const acceptsMissing = acceptedMissing.has("checkpoint") || !address.startsWith("sqlite:");
  // Existing keys are read before the store is locked; new ones are created only for a log that they may sign.
  await findKey(directory, "receipts");
  const known = await findKey(directory, "checkpoint");
  const opened = await openStore(address, origin, journal);
  let scrub: Scrub | undefined;
  const kept = keepCheckpoints(opened, directory);
  const { store: telling, onCheckpointError } = watchCheckpoints(kept, telemetry, journal);
  const watched = watchStore(telling, telemetry);
  const store: ReceiptStore = {
    ...watched,
    close: async () => {
      await scrub?.stop();
      await watched.close();
    },
  };
  const { key, checkpointKey } = await openOwnKeys(
    { directory, origin, key: known, acceptsMissing },
    store,
  ).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
  const logKey = await writeLogKey(config.keyDirectory, origin, checkpointKey);
  // Before anything is signed: the witnesses may know that this log was rolled back.
  const attesting = await openAttesting(config, {
    store,
    logKey,
    clock: SYSTEM_CLOCK,
    journal,
  }).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
  const signer = await createSigningPool(key);
  const log = await openLog({
    store,
    signer,
    checkpointSigner: createSigner(checkpointKey),
    origin,
    seal: logSealOf(checkpointKey, origin),
    durability,
    sign,
    onCheckpointError,
  }).catch(async (error: unknown) => {
    await signer.close();
    await store.close();
    throw error;
  });
  if (!hasKeptCheckpoint(directory)) {
    journal.warn(
      { code: "CHECKPOINT_MISSING" },
      "the stored checkpoint is missing; the gateway signs a new one",
    );
    await log.checkpoint().catch(async (error: unknown) => {
      await log.close();
      throw error;
    });
  }
  if (config.receipts.scrubRate > 0) {
    scrub = startScrub({
      store,
      origin,
      checkpointKey: checkpointKey.publicKey,
      entriesPerSecond: config.receipts.scrubRate,
      ...tellScrub(telemetry, journal),
    });
  }
  return {
    log,
    store,
    logKey,
    attesting,
    indexed: () => opened.indexed?.(),
  };
}

/** Opens the keys of a log, once it is known to be theirs; a refused start leaves none behind. */
async function openOwnKeys(
  owner: LogOwner,
  store: ReceiptStore,
): Promise<{ key: Ed25519Key; checkpointKey: Ed25519Key }> {
  const { directory, origin, key: known } = owner;
  await assertOwnLog(owner, store);
  await assertNewestHistory(directory, store);
  const key = await openKey(directory, "receipts");
  const checkpointKey = known ?? (await openKey(directory, "checkpoint"));
  if (known === undefined) await assertOwnLog({ ...owner, key: checkpointKey }, store);
  await keepEmptyCheckpoint({ directory, origin, key: checkpointKey }, store);
  const { size } = await store.head();
  await openKeyHistory(directory, key, { firstEntry: size, now: Date.now() });
  await shareHistory(directory, store);
  return { key, checkpointKey };
}

type OpenedStore = ReceiptStore & { indexed?(): Promise<number> };

function openStore(address: string, origin: string, journal: Journal): Promise<OpenedStore> {
  if (!address.startsWith("sqlite:")) return openPostgresStore({ url: address, log: origin });
  return openSqliteStore({
    directory: address.slice("sqlite:".length),
    onTorn: (torn) =>
      journal.warn(
        { code: "LOG_TAIL_CUT", ...torn },
        "removed an incomplete write after a crash; the gateway had forwarded nothing of it",
      ),
  });
}

/** Logs the findings of a scrub. */
function tellScrub(
  { scrub }: Telemetry,
  journal: Journal,
): Pick<ScrubOptions, "onChecked" | "onDamage" | "onPass"> {
  return {
    onChecked: (entries) => {
      scrub.checked += entries;
    },
    onDamage: (damage) => {
      scrub.damages += 1;
      scrub.first ??= damage;
      journal.error(
        { code: "LOG_DAMAGED", ...damage },
        "the store differs from the signed log. Fix: verify the log and restore it from a copy",
      );
    },
    onPass: (entries) => journal.debug({ entries }, "the log was verified in the background"),
  };
}
