import { equalBytes, isCountersignError } from "@countersign/core";
import type { Checkpoint } from "../checkpoint/checkpoint.js";
import { HASH_BYTES, leafHash, rootOfLevel } from "../merkle/hash.js";
import { createTreeBuilder } from "../merkle/tree.js";
import type { TreeBuilder } from "../merkle/tree.js";
import type { ReceiptStore } from "../store/store.js";
import { assertTile } from "../tiles/bundle.js";
import { TILE_WIDTH } from "../tiles/path.js";
import { assertConsistent } from "./checkpoints.js";
import { findRetention } from "./retention.js";

/** Stored data that does not match what was signed. */
export type Damage = {
  /** The entry, or the first possible one; undefined when only the whole tree shows the damage. */
  readonly seq?: number;
  readonly reason: string;
};

/** Options of {@link startScrub}. */
export type ScrubOptions = {
  readonly store: ReceiptStore;
  readonly origin: string;
  /** The public key of the log's checkpoints. */
  readonly checkpointKey: Uint8Array;
  /** Average number of entries read per second. */
  readonly entriesPerSecond: number;
  /** Milliseconds between two passes; default one hour. */
  readonly pauseMs?: number;
  /** Milliseconds before retrying a store that did not respond; default 5,000. */
  readonly retryMs?: number;
  /** Called with the number of entries that were checked. */
  onChecked?(entries: number): void;
  /**
   * Called for each damage, at most 16 per pass, and for a failure that ended a pass; the next pass
   * starts after `pauseMs`.
   */
  onDamage(damage: Damage): void;
  /** Called when a pass has reached the last checkpoint. */
  onPass?(size: number): void;
};

/** A scrub that runs in the background. */
export type Scrub = { stop(): Promise<void> };

const PAUSE_MS = 3_600_000;
const RETRY_MS = 5_000;
const MAX_REPORTED = 16;
/**
 * Attempts to read entries from a store that responds; after that the entries count as unreadable.
 */
const MAX_TRIES = 3;
/** Codes of failures to read; any other code is about the bytes. */
const READ_FAILURES: ReadonlySet<string> = new Set(["ERR_STORE_READ", "ERR_STORE_CLOSED"]);

function isDamage(error: unknown): boolean {
  return !isCountersignError(error) || !READ_FAILURES.has(error.code);
}

/** An unexpected error is reported by its name only: its message may contain stored data. */
function reasonOf(error: unknown): string {
  if (isCountersignError(error)) return error.message;
  return `the check failed: ${error instanceof Error ? error.name : "unknown"}`;
}

type Pass = {
  readonly checkpoint: Checkpoint;
  readonly tree: TreeBuilder;
  /** Entries before this one may be missing: a signed entry announced their removal. */
  readonly removed: number;
  reported: number;
};

/**
 * Reads the log again and again, slowly, from the first entry to the last checkpoint, to find
 * damaged bytes while a copy still exists. Each entry is compared with its leaf hash, each tile
 * with the one above, and all of them with the signed root. In a database the index is compared with
 * the entries too.
 */
export function startScrub(options: ScrubOptions): Scrub {
  const { store, entriesPerSecond, pauseMs = PAUSE_MS, retryMs = RETRY_MS } = options;
  let pass: Pass | undefined;
  let tries = 0;
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  const report = (current: Pass | undefined, damage: Damage): void => {
    if (current !== undefined && current.reported++ >= MAX_REPORTED) return;
    options.onDamage(damage);
  };

  async function begin(): Promise<Pass | undefined> {
    const checkpoint = await assertConsistent(store, options.origin, options.checkpointKey);
    if (checkpoint === undefined) return undefined;
    // Only a log without its first entries is asked for the announcement.
    const removed = (await store.first()) === 0 ? undefined : await findRetention(store);
    return { checkpoint, tree: createTreeBuilder(), removed: removed?.first ?? 0, reported: 0 };
  }

  /** Checks one bundle and returns the milliseconds until the next. */
  async function step(): Promise<number> {
    pass ??= await begin();
    if (pass === undefined) return pauseMs;
    const { checkpoint, tree } = pass;
    if (tree.size < checkpoint.size) {
      const width = Math.min(TILE_WIDTH, checkpoint.size - tree.size);
      await checkOrSkip(pass, width);
      return (width * 1_000) / entriesPerSecond;
    }
    if (pass.reported === 0 && !equalBytes(tree.root(), checkpoint.root)) {
      report(pass, { reason: "the entries hash to another root than the signed one" });
    }
    pass = undefined;
    options.onPass?.(checkpoint.size);
    return pauseMs;
  }

  /** A bad sector fails like a store that is down, but permanently, and for these entries only. */
  async function checkOrSkip(current: Pass, width: number): Promise<void> {
    try {
      await checkBundle(current, width);
    } catch (error) {
      tries += 1;
      if (isDamage(error) || tries < MAX_TRIES || !(await responds(store))) throw error;
      const { tree } = current;
      report(current, { seq: tree.size, reason: `cannot be read: ${reasonOf(error)}` });
      for (let count = 0; count < width; count += 1) tree.append(new Uint8Array(HASH_BYTES));
    }
    tries = 0;
  }

  async function checkBundle(current: Pass, width: number): Promise<void> {
    const { tree } = current;
    const first = tree.size;
    const index = first / TILE_WIDTH;
    const found: Damage[] = [];
    const tile = await orDamage(found, first, async () => {
      const bytes = await store.readTile({ level: 0, index, width });
      assertTile(bytes, width);
      return bytes;
    });
    const entries = await orDamage(found, first, () =>
      readKept(current.removed, first, first + width),
    );
    const leaves = Array.from({ length: width }, (_, offset) => {
      const bytes = entries?.[offset];
      const known = tile?.subarray(offset * HASH_BYTES, (offset + 1) * HASH_BYTES);
      const hash = bytes === undefined ? undefined : leafHash(bytes);
      if (hash !== undefined && known !== undefined && !equalBytes(hash, known)) {
        found.push({ seq: first + offset, reason: "the entry does not hash to its leaf" });
      }
      return known ?? hash ?? new Uint8Array(HASH_BYTES);
    });
    if (width === TILE_WIDTH) await checkAbove(found, index, rootOfLevel(leaves));
    const mismatched = await orDamage(found, first, async () =>
      store.findMismatchedRow?.(first, first + width),
    );
    if (mismatched !== undefined) {
      found.push({
        seq: mismatched,
        reason: "the index contradicts the entry",
      });
    }
    // Last: after a store failure the whole bundle is checked again, and nothing is reported twice.
    for (const leaf of leaves) tree.append(leaf);
    for (const damage of found) report(current, damage);
    options.onChecked?.(width);
  }

  /** The entries, or none when they were removed because of their age: then their hashes are checked. */
  async function readKept(removed: number, start: number, end: number): Promise<Uint8Array[]> {
    try {
      return await store.readEntries(start, end);
    } catch (error) {
      if (!isCountersignError(error, "ERR_STORE_REMOVED") || end > removed) throw error;
      return [];
    }
  }

  /** The hash of a full tile is part of the tile above it. */
  async function checkAbove(found: Damage[], index: number, root: Uint8Array): Promise<void> {
    const place = index % TILE_WIDTH;
    const name = { level: 1, index: Math.floor(index / TILE_WIDTH), width: place + 1 };
    const seq = index * TILE_WIDTH;
    const above = await orDamage(found, seq, () => store.readTile(name));
    if (above === undefined || equalBytes(above.subarray(place * HASH_BYTES), root)) return;
    found.push({ seq, reason: "the tile above is not that of the leaf hashes" });
  }

  const run = (): void => {
    running = step()
      .catch((error: unknown) => {
        // Components that need the store report its failure; the pass resumes at the same bundle.
        if (!isDamage(error)) return retryMs;
        pass = undefined;
        report(undefined, { reason: reasonOf(error) });
        return pauseMs;
      })
      // The callback threw: there is nowhere to report it, and a background check must not end the
      // gateway.
      .catch(() => pauseMs)
      .then((delay) => {
        if (!isStopped) timer = setTimeout(run, delay).unref();
      });
  };
  run();
  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}

async function responds(store: ReceiptStore): Promise<boolean> {
  return store.head().then(
    () => true,
    () => false,
  );
}

/** The result of `read`, or undefined after recording the damage that prevented it. */
async function orDamage<Value>(
  found: Damage[],
  seq: number,
  read: () => Promise<Value>,
): Promise<Value | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!isDamage(error)) throw error;
    found.push({ seq, reason: reasonOf(error) });
    return undefined;
  }
}
