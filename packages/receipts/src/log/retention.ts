import { OPERATOR_AGENT } from "@countersign/core";
import { RETENTION_EVENT_TYPE, removedBefore } from "../entry/retention.js";
import type { EntryDraft } from "../entry/draft.js";
import type { ReceiptStore } from "../store/store.js";
import type { ReceiptLog } from "./open-log.js";

/** Options of {@link startRetention}. */
export type RetentionOptions = {
  readonly log: Pick<ReceiptLog, "append" | "checkpoint">;
  readonly store: ReceiptStore;
  /** Age in milliseconds after which entries are removed. */
  readonly keepMs: number;
  /** Milliseconds between two passes; default one hour. */
  readonly intervalMs?: number;
  readonly clock: () => number;
  /** The entry that announces the removal; see `retentionReceipt`. */
  announce(first: number): EntryDraft;
  /** Called after the entries before `first` were removed. */
  onRemoved(first: number): void;
  /** Called when a pass failed; the next one is attempted anyway. */
  onFailure(error: unknown): void;
};

/** Removes old entries in the background. */
export type Retention = { stop(): Promise<void> };

const HOUR_MS = 3_600_000;
/** An embedded store removes whole files: each holds at most this part of the kept time. */
const FILES_PER_KEPT_TIME = 8;

/** The announcement of the newest removal, and the number before which it removed. */
export async function findRetention(
  store: Pick<ReceiptStore, "query">,
): Promise<{ readonly seq: number; readonly first: number } | undefined> {
  // An agent can send thousands of events with this name.
  const filter = { agent_id: OPERATOR_AGENT, event_type: RETENTION_EVENT_TYPE, allowed: true };
  const { entries } = await store.query(filter, { limit: 1_000 });
  for (const entry of entries) {
    const first = removedBefore(entry);
    if (first !== undefined) return { seq: entry.seq, first };
  }
  return undefined;
}

/**
 * Removes entries that are older than `keepMs`. Each removal is announced by a signed entry, and a
 * checkpoint covers that entry before the first byte is removed. Leaf hashes stay.
 */
export function startRetention(options: RetentionOptions): Retention {
  const { log, store, keepMs, intervalMs = HOUR_MS, clock } = options;
  let running: Promise<void> = Promise.resolve();

  /** The first entry received at or after a time; the end of the log without one. */
  async function firstSince(since: number): Promise<number> {
    const page = { order: "oldest", limit: 1 } as const;
    const { entries } = await store.query({ since: Math.max(0, Math.floor(since)) }, page);
    return entries[0]?.seq ?? (await store.head()).size;
  }

  async function pass(): Promise<void> {
    const now = clock();
    const limit = await firstSince(now - keepMs);
    const rotate = await firstSince(now - keepMs / FILES_PER_KEPT_TIME);
    const first = await store.planRemoval(limit, rotate);
    if (first <= (await store.first())) return;
    await log.append(options.announce(first));
    await log.checkpoint();
    await store.remove(first);
    options.onRemoved(first);
  }

  const run = (): void => {
    // Passes do not overlap: a slow one is continued by the next.
    running = running.then(() => pass().catch(options.onFailure));
  };
  const timer = setInterval(run, intervalMs).unref();
  run();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
