import { join } from "node:path";
import { CountersignError } from "@countersign/core";
import { BUDGETS } from "../quota/token-budgets.js";
import { VELOCITY } from "../quota/velocity-caps.js";
import { CAPABILITY_RECORDS } from "../access/capability-records.js";
import { CONTAINED_AGENTS } from "../runs/containment.js";
import type { GatewayConfig } from "../config/config.js";
import "../base/errors.js";
import { forgetOld, wasUsed } from "../store/forget-old.js";
import type { KeyedStore } from "../store/keyed-store.js";
import {
  openPostgresKeyedStore,
  wasPostgresStoreUsed,
} from "../store/postgres/open-postgres-store.js";
import { keepRecentRows } from "../store/recent-rows.js";
import { openSqliteKeyedStore, wasSqliteStoreUsed } from "../store/sqlite/open-sqlite-store.js";
import type { Clock } from "../base/ports.js";

/** Partitions whose rows have an end of their own, or none. */
const KEPT = [BUDGETS.partition, VELOCITY.partition, CAPABILITY_RECORDS, CONTAINED_AGENTS];

const HOUR_MS = 3_600_000;

/** The state of the log that the ledger belongs to. */
export type LedgerExpectation = {
  /** Entries of the log. */
  readonly entries: number;
  /** The operator accepts a missing ledger. */
  readonly acceptsMissing: boolean;
};

/** Opens the ledger next to the receipts: in their directory, or in their database. */
export async function openLedger(
  config: GatewayConfig,
  clock: Clock,
  { entries, acceptsMissing }: LedgerExpectation,
): Promise<KeyedStore> {
  const { store, origin } = config.receipts;
  const open = async (): Promise<KeyedStore> =>
    store.startsWith("sqlite:")
      ? // The lock of the receipts' directory keeps other processes away from it.
        keepRecentRows(
          await openSqliteKeyedStore({
            directory: join(store.slice("sqlite:".length), "ledger"),
            clock,
          }),
        )
      : openPostgresKeyedStore({ url: store, name: origin, clock });
  const opened = await open();
  let isNew: boolean;
  try {
    isNew = !(await wasUsed(opened));
    if (isNew && entries > 0 && !acceptsMissing) throw missing(entries);
    // Before the first entry of the log: a log with entries and a ledger without this mark has lost its ledger.
    if (isNew) await forgetOld(opened, clock.now(), config.threads.keepMs);
  } catch (error) {
    await opened.close();
    throw error;
  }
  // Closing flushes it to disk, so that the mark survives a power loss as the entries do.
  if (isNew) await opened.close();
  const ledger = isNew ? await open() : opened;
  const keepThenForget = async (): Promise<void> => {
    // Capabilities may be spent, and agents contained, longer than threads are remembered.
    for (const partition of KEPT) await ledger.write(partition, []);
    await forgetOld(ledger, clock.now(), config.threads.keepMs);
  };
  const forget = (): void => {
    // A failed removal is repeated in an hour.
    void keepThenForget().catch(() => undefined);
  };
  forget();
  const timer = setInterval(forget, HOUR_MS);
  timer.unref();
  return {
    ...ledger,
    close: async () => {
      clearInterval(timer);
      await ledger.close();
    },
  };
}

/** Refuses what {@link openLedger} would refuse; creates and writes nothing. */
export async function assertLedgerIn(
  { receipts: { store, origin } }: GatewayConfig,
  { entries, acceptsMissing }: LedgerExpectation,
): Promise<void> {
  if (entries === 0 || acceptsMissing) return;
  const isUsed = store.startsWith("sqlite:")
    ? await wasSqliteStoreUsed(join(store.slice("sqlite:".length), "ledger"))
    : await wasPostgresStoreUsed(store, origin);
  if (!isUsed) throw missing(entries);
}

/** The error for an unused ledger next to a log with entries: withheld and approved items would be forgotten. */
function missing(entries: number): CountersignError<"ERR_LEDGER_MISSING"> {
  return new CountersignError(
    "ERR_LEDGER_MISSING",
    `the log has ${entries} entries, but the ledger beside it is missing or new: the gateway would forget the owners of sessions, delivered messages, blocked content and approvals. ` +
      "Fix: restore the ledger (the folder ledger of the store, or the tables countersign_* of the database), or start once with --accept-missing ledger.",
    { entries },
  );
}
