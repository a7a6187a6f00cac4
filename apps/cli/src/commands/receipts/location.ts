import { join } from "node:path";
import { CountersignError, isCountersignError } from "@countersign/core";
import type { GatewayConfig } from "@countersign/gateway";
import type { ReceiptStore } from "@countersign/receipts/log";
import { openPostgresStore } from "@countersign/receipts/postgres";
import { openSqliteStore } from "@countersign/receipts/sqlite";
import type { Command } from "commander";
import { pathExists } from "../../files/path-exists.js";
import { CONFIG_FILE, readConfiguration } from "../configuration.js";
import "../errors.js";

/** Flags that say where receipts and keys are. */
export type LocationFlags = { config: string; store?: string; keys?: string; log?: string };

/** The location of receipts and keys. */
export type Location = {
  readonly store: string;
  readonly keyDirectory: string;
  readonly origin: string;
  /** The configured witnesses of the log. */
  readonly witnesses?: GatewayConfig["receipts"]["witnesses"];
};

const DEFAULTS = {
  config: CONFIG_FILE,
  store: "sqlite:.countersign/receipts",
  keyDirectory: ".countersign/keys",
  origin: "countersign.local/log",
};

/** Adds the flags to a verb. */
export function addLocationFlags(command: Command): Command {
  return command
    .option(
      "-c, --config <file>",
      "configuration with the store and the key directory",
      DEFAULTS.config,
    )
    .option(
      "--store <address>",
      "receipt store, sqlite:DIRECTORY or postgres://…, instead of the configured one",
    )
    .option("--keys <directory>", "key directory, instead of the configured one")
    .option("--log <origin>", "name of the log, instead of the configured one");
}

/** Reads the flags, and the configuration when there is one. */
export function findLocation(flags: LocationFlags): Location {
  const config = readConfiguration(flags.config);
  return {
    store: flags.store ?? config?.receipts.store ?? DEFAULTS.store,
    keyDirectory: flags.keys ?? config?.keyDirectory ?? DEFAULTS.keyDirectory,
    origin: flags.log ?? config?.receipts.origin ?? DEFAULTS.origin,
    witnesses: config?.receipts.witnesses,
  };
}

/** The directory of an embedded store; undefined when the store is PostgreSQL. */
export function storeDirectory(place: Location): string | undefined {
  if (/^postgres(?:ql)?:/.test(place.store)) return undefined;
  return place.store.replace(/^sqlite:/, "");
}

/** Files that only a store has: one of them proves that a store existed. */
const STORE_MARKS = ["segments", "hashes", "sealed", "ledger", "index.sqlite"];

/** Whether a directory is an embedded store, or what is left of one. */
export function isStoreDirectory(directory: string): boolean {
  return STORE_MARKS.some((name) => pathExists(join(directory, name)));
}

/** Opens the store for reading; a gateway may have it open at the same time. */
export async function openForReading(place: Location): Promise<ReceiptStore> {
  const directory = storeDirectory(place);
  if (directory === undefined) {
    return openPostgresStore({
      url: place.store,
      log: place.origin,
      connections: 1,
      readOnly: true,
    });
  }
  if (!isStoreDirectory(directory)) {
    throw new CountersignError(
      "ERR_CLI_NO_STORE",
      `no receipt store at ${directory}. Fix: run the command in the gateway's folder, name a store with --store, or start the gateway first`,
      { store: place.store },
    );
  }
  return openSqliteStore({ directory, readOnly: true });
}

/** Opens the store, does something with it, and closes it again whatever happens. */
export async function withStore<Result>(
  place: Location,
  use: (store: ReceiptStore) => Promise<Result>,
): Promise<Result> {
  const store = await openForReading(place);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** The number of entries in the log; 0 without a log. */
export async function logSize(place: Location): Promise<number> {
  const directory = storeDirectory(place);
  if (directory !== undefined && !isStoreDirectory(directory)) return 0;
  try {
    return await withStore(place, async (store) => (await store.head()).size);
  } catch (error) {
    if (isCountersignError(error, "ERR_STORE_ABSENT")) return 0;
    throw error;
  }
}
