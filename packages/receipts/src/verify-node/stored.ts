import { equalBytes, isCountersignError } from "@countersign/core";
import type { ReceiptStore } from "../store/store.js";
import { tilesForGrowth } from "../tiles/layout.js";
import { tilePath, TILE_WIDTH } from "../tiles/path.js";
import { conclude, failed, held } from "../verify/result.js";
import type { Verification } from "../verify/result.js";

const ID = "store-whole";

/** Codes of failures to read; any other code is about the bytes. */
const READ_FAILURES: ReadonlySet<string> = new Set([
  "ERR_STORE_ABSENT",
  "ERR_STORE_CLOSED",
  "ERR_STORE_LOCKED",
]);
/** System errors for a missing file, or a path that is not a regular file. */
const NOT_A_FILE: ReadonlySet<string> = new Set([
  "ENOENT",
  "EISDIR",
  "ENOTDIR",
  "ELOOP",
  "ENXIO",
  "EFTYPE",
]);

/**
 * The verification of a store that could not be read because of its content. `undefined` when the
 * error is a failure to read: no permission, a database that does not respond, a missing store.
 */
export function verificationOfDamage(error: unknown): Verification | undefined {
  if (!isDamage(error)) return undefined;
  const seq = isCountersignError(error, "ERR_STORE_CORRUPT") ? error.facts.seq : undefined;
  const code = isCountersignError(error) ? error.code : undefined;
  // An unexpected error is reported by its name only: its message may contain stored data.
  const name = error instanceof Error ? error.name : "unknown";
  const detail = isCountersignError(error)
    ? error.message
    : `reading failed: ${nameOf(error) ?? name}`;
  return conclude([failed(ID, detail, seq, code)], []);
}

/**
 * Adds the data that a live store keeps beside its entries to a verification. Every tile must match
 * the entries (`exported` reads the expected one). The index columns of an entry in a database must
 * match its content.
 */
export async function verifyStored(
  covered: Verification,
  size: number,
  store: ReceiptStore,
  exported: (path: string) => Promise<Uint8Array | undefined>,
): Promise<Verification> {
  const { checks, signers } = covered;
  const kept = await store.first();
  let tiles = 0;
  for (const tile of tilesForGrowth(0, size)) {
    const path = tilePath(tile);
    // Their hashes are checked with the leaf tiles below.
    if (tile.level === "entries" && tile.index * TILE_WIDTH < kept) continue;
    const first =
      tile.level === "entries" || tile.level === 0 ? tile.index * TILE_WIDTH : undefined;
    const [stored, own] = await Promise.all([store.readTile(tile), exported(path)]);
    if (own === undefined || !equalBytes(stored, own)) {
      return conclude(
        [...checks, failed(ID, `${path} is not what the entries hash to`, first)],
        signers,
      );
    }
    if (tile.level === "entries" && store.findMismatchedRow !== undefined) {
      const mismatched = await store.findMismatchedRow(
        tile.index * TILE_WIDTH,
        tile.index * TILE_WIDTH + tile.width,
      );
      if (mismatched !== undefined) {
        const detail = "the index contradicts the entry";
        return conclude([...checks, failed(ID, detail, mismatched)], signers);
      }
    }
    tiles += 1;
  }
  return conclude([...checks, held(ID, `${tiles} tiles and bundles`)], signers);
}

function isDamage(error: unknown): boolean {
  if (isCountersignError(error)) {
    if (isCountersignError(error, "ERR_STORE_READ")) return NOT_A_FILE.has(error.facts.cause);
    return !READ_FAILURES.has(error.code) && !error.code.startsWith("ERR_CLI_");
  }
  const name = nameOf(error);
  // Without a system error code our own reader met unexpected data: undecided means failed.
  return name === undefined || NOT_A_FILE.has(name);
}

function nameOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === "string" ? code : undefined;
}
