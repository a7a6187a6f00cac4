import { join } from "node:path";
import { CountersignError, isCountersignError } from "@countersign/core";
import type { CompiledPolicy } from "@countersign/policy";
import type { LogEntry } from "@countersign/receipts";
import "../base/errors.js";
import type { Clock, Journal } from "../base/ports.js";
import type { EvidenceConfig, GatewayConfig } from "../config/config.js";
import type { OpenEvidence } from "../control/ports.js";
import { createEvidenceKeeper } from "../evidence/keep-evidence.js";
import type { EvidenceKeeper } from "../evidence/keep-evidence.js";
import { openEvidence } from "../evidence/read-evidence.js";
import type { EvidenceRead } from "../evidence/read-evidence.js";
import { createEvidenceSeal } from "../evidence/seal.js";
import { findEvidenceKeys, openEvidenceKeys } from "../keys/evidence-keys.js";
import type { EvidenceRow, EvidenceStore } from "../store/evidence-store.js";
import {
  hasPostgresEvidence,
  newestPostgresKey,
  openPostgresEvidence,
  readPostgresEvidence,
} from "../store/postgres/open-postgres-evidence.js";
import {
  hasSqliteEvidence,
  newestSqliteKey,
  openSqliteEvidence,
  readSqliteEvidence,
} from "../store/sqlite/open-sqlite-evidence.js";

/** The evidence store of a running gateway. */
export type RunningEvidence = OpenEvidence & {
  readonly keeper: EvidenceKeeper;
  close(): Promise<void>;
};

/** The parts that the evidence store needs. */
export type EvidenceParts = {
  policy(): Pick<CompiledPolicy, "evidence">;
  readonly clock: Clock;
  readonly journal: Journal;
};

const MINUTE_MS = 60_000;
/** Copies are removed before a new part of this size has come in. */
const SWEEP_PARTS = 16;

/** Opens the evidence store beside the log; `undefined`, and nothing created, where it is off. */
export async function openEvidenceStore(
  config: GatewayConfig,
  parts: EvidenceParts,
): Promise<RunningEvidence | undefined> {
  const { evidence: settings, receipts, keyDirectory } = config;
  if (settings === undefined) {
    await warnOfLeftovers(config, parts.journal);
    return undefined;
  }
  const store = await openStore(receipts);
  try {
    assertKnownKey(await store.newestKey(), keyDirectory);
    const { current, all: keys } = await openEvidenceKeys(keyDirectory);
    const seal = createEvidenceSeal(receipts.origin);
    const { sweep, grow, stop } = createSweeper(store, settings, parts);
    const keeper = createEvidenceKeeper({
      ...parts,
      store,
      seal,
      key: current,
      events: settings.events,
      maxPayloadBytes: settings.maxPayloadBytes,
      onStored: grow,
    });
    await sweep();
    return {
      settings,
      keeper,
      figures: keeper.figures,
      usage: () => store.usage(),
      read: async (entries) => {
        const rows = await store.read(entries.map(({ seq }) => seq));
        const keptSince = parts.clock.now() - settings.keepMs;
        return openEvidence({ seal, keys, keptSince }, entries, rows);
      },
      close: async () => {
        await stop();
        await keeper.flush();
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

function openStore({ store, origin }: GatewayConfig["receipts"]): Promise<EvidenceStore> {
  return store.startsWith("sqlite:")
    ? // The lock of the receipts' directory keeps other gateways away from it.
      openSqliteEvidence({ directory: directoryOf(store) })
    : openPostgresEvidence({ url: store, name: origin });
}

function directoryOf(store: string): string {
  return join(store.slice("sqlite:".length), "evidence");
}

/**
 * A gateway that made a key of its own would write copies that the others cannot read: the newest copy must be of a
 * known key.
 */
function assertKnownKey(newest: string | undefined, directory: string): void {
  const { all } = findEvidenceKeys(directory);
  if (newest === undefined || all.some(({ id }) => id === newest)) return;
  throw new CountersignError(
    "ERR_EVIDENCE_KEY",
    `the kept payloads of this log are encrypted with the key ${newest}, which ${directory} does not have. Fix: copy evidence.key from another gateway or from the backup; if it is lost, remove the evidence store, whose copies cannot be read any more`,
    { key: newest },
  );
}

/** Refuses what {@link openEvidenceStore} would refuse, and says what it would keep; creates and writes nothing. */
export async function inspectEvidence({
  evidence,
  receipts: { store, origin },
  keyDirectory,
}: Pick<GatewayConfig, "evidence" | "receipts" | "keyDirectory">): Promise<string> {
  if (evidence === undefined) return "off";
  const newest = store.startsWith("sqlite:")
    ? await newestSqliteKey(directoryOf(store))
    : await newestPostgresKey({ url: store, name: origin });
  assertKnownKey(newest, keyDirectory);
  const hours = evidence.keepMs / (60 * MINUTE_MS);
  const megabytes = Math.floor(evidence.maxBytes / 1_048_576);
  return `${evidence.events === "all" ? "all" : "blocked"} payloads for ${hours} hours, at most ${megabytes} MiB`;
}

/** Copies of an earlier configuration would stay for ever without a word. */
async function warnOfLeftovers({ receipts }: GatewayConfig, journal: Journal): Promise<void> {
  const { store } = receipts;
  const place = store.startsWith("sqlite:") ? directoryOf(store) : "the table countersign_evidence";
  const isLeft = store.startsWith("sqlite:")
    ? hasSqliteEvidence(directoryOf(store))
    : await hasPostgresEvidence(store).catch(() => false);
  if (!isLeft) return;
  journal.warn(
    { code: "EVIDENCE_LEFT", place },
    "evidence is off, but copies of payloads from before are still stored and will not expire. Fix: remove the store, or set evidence.keep",
  );
}

type Sweeper = {
  sweep(): Promise<void>;
  /** Counts stored bytes, and sweeps in time. */
  grow(bytes: number): void;
  stop(): Promise<void>;
};

function createSweeper(
  store: EvidenceStore,
  { keepMs, maxBytes }: EvidenceConfig,
  { clock, journal }: EvidenceParts,
): Sweeper {
  let grown = 0;
  let running: Promise<void> = Promise.resolve();
  const pass = async (): Promise<void> => {
    grown = 0;
    try {
      const removed = await store.sweep(clock.now() - keepMs, maxBytes);
      if (removed > 0)
        journal.info({ removed }, "copies of payloads past their limits were removed");
    } catch (error) {
      journal.error(
        { code: isCountersignError(error) ? error.code : "INTERNAL" },
        "copies of payloads could not be removed; the gateway tries again within a minute",
      );
    }
  };
  // Passes do not overlap.
  const sweep = (): Promise<void> => (running = running.then(pass));
  const timer = setInterval(() => void sweep(), MINUTE_MS).unref();
  return {
    sweep,
    grow: (bytes) => {
      grown += bytes;
      if (grown < maxBytes / SWEEP_PARTS) return;
      grown = 0;
      void sweep();
    },
    stop: async () => {
      clearInterval(timer);
      await running;
    },
  };
}

/** The place of the copies of a log. */
export type EvidencePlace = {
  /** `sqlite:DIRECTORY` or a postgres:// address. */
  readonly store: string;
  readonly origin: string;
  readonly keyDirectory: string;
  /** Copies that were kept before this time are over. */
  readonly keptSince: number;
};

/** Reads the copy of one entry from the store and the key directory, without a gateway. */
export async function readEvidence(
  { store, origin, keyDirectory, keptSince }: EvidencePlace,
  entry: LogEntry,
): Promise<EvidenceRead | "no store" | "not kept" | "expired"> {
  const rows: EvidenceRow[] | undefined = store.startsWith("sqlite:")
    ? await readSqliteEvidence(directoryOf(store), [entry.seq])
    : await readPostgresEvidence({ url: store, name: origin }, [entry.seq]);
  if (rows === undefined) return "no store";
  if (rows.length === 0) return "not kept";
  const { all: keys } = findEvidenceKeys(keyDirectory);
  const opening = { seal: createEvidenceSeal(origin), keys, keptSince };
  return openEvidence(opening, [entry], rows)[0] ?? "expired";
}
