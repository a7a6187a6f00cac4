import { equalBytes, isCountersignError } from "@countersign/core";
import type { Checkpoint } from "../checkpoint/checkpoint.js";
import { HASH_BYTES, leafHash, rootOfLevel } from "../merkle/hash.js";
import { createTreeBuilder } from "../merkle/tree.js";
import type { TreeBuilder } from "../merkle/tree.js";
import type { ReceiptStore } from "../store/store.js";
import { assertTile } from "../tiles/bundle.js";
import { TILE_WIDTH } from "../tiles/path.js";
import { assertConsistent } from "./checkpoints.js";

/** Something in the store that is not what was signed for. */
export type Damage = {
  /** The entry, or the first of those in doubt; unknown where only the whole tree tells. */
  readonly seq?: number;
  readonly reason: string;
};

/** Options of {@link startScrub}. */
export type ScrubOptions = {
  readonly store: ReceiptStore;
  readonly origin: string;
  /** The key that the log's checkpoints are signed with. */
  readonly checkpointKey: Uint8Array;
  /** Entries read again in a second, on average. */
  readonly entriesPerSecond: number;
  /** Milliseconds between the end of one pass and the beginning of the next; an hour when left out. */
  readonly restMs?: number;
  /** Milliseconds until a store that did not answer is asked again; 5,000 when left out. */
  readonly retryMs?: number;
  /** Told of entries that are as they were. */
  onChecked?(entries: number): void;
  /** Told of each damage, at most 16 in a pass, and of a failure that ended a pass; the next begins after a rest. */
  onDamage(damage: Damage): void;
  /** Told when a pass has come to the end of what was signed for. */
  onPass?(size: number): void;
};

/** A scrub that runs in the background. */
export type Scrub = { stop(): Promise<void> };

const REST_MS = 3_600_000;
const RETRY_MS = 5_000;
const MAX_TOLD = 16;
/** How often entries are asked for that a store which answers does not give: then it is they that cannot be read. */
const MAX_TRIES = 3;
/** Codes that say that nobody could look; any other says something about the bytes. */
const UNSEEN: ReadonlySet<string> = new Set(["ERR_STORE_READ", "ERR_STORE_CLOSED"]);

function isDamage(error: unknown): boolean {
  return !isCountersignError(error) || !UNSEEN.has(error.code);
}

/** What nobody foresaw is told by its name alone: its message may say what was read. */
function reasonOf(error: unknown): string {
  if (isCountersignError(error)) return error.message;
  return `looking failed: ${error instanceof Error ? error.name : "unknown"}`;
}

type Pass = { readonly checkpoint: Checkpoint; readonly tree: TreeBuilder; told: number };

/**
 * Reads the log again from its beginning to its last checkpoint, slowly, for ever: bytes that rot behind what a start
 * looks at are found while there still is a copy. Each entry is held against its leaf hash, each tile against the one
 * above, and all of them against the signed root; in a database also what an entry is found by against what it says.
 */
export function startScrub(options: ScrubOptions): Scrub {
  const { store, entriesPerSecond, restMs = REST_MS, retryMs = RETRY_MS } = options;
  let pass: Pass | undefined;
  let tries = 0;
  let isStopped = false;
  let underWay: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  const tell = (current: Pass | undefined, damage: Damage): void => {
    if (current !== undefined && current.told++ >= MAX_TOLD) return;
    options.onDamage(damage);
  };

  async function begin(): Promise<Pass | undefined> {
    const checkpoint = await assertConsistent(store, options.origin, options.checkpointKey);
    if (checkpoint === undefined) return undefined;
    return { checkpoint, tree: createTreeBuilder(), told: 0 };
  }

  /** Looks at one bundle and gives the milliseconds until the next. */
  async function step(): Promise<number> {
    pass ??= await begin();
    if (pass === undefined) return restMs;
    const { checkpoint, tree } = pass;
    if (tree.size < checkpoint.size) {
      const width = Math.min(TILE_WIDTH, checkpoint.size - tree.size);
      await checkOrPassOver(pass, width);
      return (width * 1_000) / entriesPerSecond;
    }
    if (pass.told === 0 && !equalBytes(tree.root(), checkpoint.root)) {
      tell(pass, { reason: "the entries hash to another root than the signed one" });
    }
    pass = undefined;
    options.onPass?.(checkpoint.size);
    return restMs;
  }

  /** A bad sector fails like a store that is down, but for good, and for these entries alone. */
  async function checkOrPassOver(current: Pass, width: number): Promise<void> {
    try {
      await checkBundle(current, width);
    } catch (error) {
      tries += 1;
      if (isDamage(error) || tries < MAX_TRIES || !(await answers(store))) throw error;
      const { tree } = current;
      tell(current, { seq: tree.size, reason: `cannot be read: ${reasonOf(error)}` });
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
    const entries = await orDamage(found, first, () => store.readEntries(first, first + width));
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
    const misfiled = await orDamage(found, first, async () =>
      store.findMisfiled?.(first, first + width),
    );
    if (misfiled !== undefined) {
      found.push({
        seq: misfiled,
        reason: "questions find the entry by something else than it says",
      });
    }
    // Last: where the store fell silent before, the whole bundle is looked at again and nothing is told twice.
    for (const leaf of leaves) tree.append(leaf);
    for (const damage of found) tell(current, damage);
    options.onChecked?.(width);
  }

  /** The hash of a full tile stands in the tile above it. */
  async function checkAbove(found: Damage[], index: number, root: Uint8Array): Promise<void> {
    const place = index % TILE_WIDTH;
    const name = { level: 1, index: Math.floor(index / TILE_WIDTH), width: place + 1 };
    const seq = index * TILE_WIDTH;
    const above = await orDamage(found, seq, () => store.readTile(name));
    if (above === undefined || equalBytes(above.subarray(place * HASH_BYTES), root)) return;
    found.push({ seq, reason: "the tile above is not that of the leaf hashes" });
  }

  const run = (): void => {
    underWay = step()
      .catch((error: unknown) => {
        // A store that is down is told by those who need it; the pass goes on where it was.
        if (!isDamage(error)) return retryMs;
        pass = undefined;
        tell(undefined, { reason: reasonOf(error) });
        return restMs;
      })
      // Telling failed: nobody is left to tell, and a gateway does not end because of what it reads in passing.
      .catch(() => restMs)
      .then((delay) => {
        if (!isStopped) timer = setTimeout(run, delay).unref();
      });
  };
  run();
  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await underWay;
    },
  };
}

async function answers(store: ReceiptStore): Promise<boolean> {
  return store.head().then(
    () => true,
    () => false,
  );
}

/** What was read, or nothing and the damage that kept it from being read. */
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
