import { join } from "node:path";
import { readFailure } from "../store/failure.js";
import { createBundleFiles } from "./bundle-files.js";
import type { BundleFiles } from "./bundle-files.js";
import { DerivedFiles } from "./derived-files.js";
import { nodeDisk } from "./disk.js";
import type { Disk } from "./disk.js";
import { lockDirectory } from "./lock.js";
import { findCommitted, recoverTail } from "./recover.js";
import type { Committed } from "./recover.js";
import { readRemoved, readSealed } from "./sealed.js";
import type { Removed } from "./sealed.js";
import { Segments } from "./segments.js";
import { saveTornTail } from "./torn-tail.js";
import type { TornTail } from "./torn-tail.js";

/** Options of {@link openBundles}. */
export type BundleOptions = {
  readonly directory: string;
  /** Bytes after which a new segment file starts; default 256 MiB. */
  readonly segmentBytes?: number;
  /** Reads only, up to the last checkpoint, beside a process that writes. */
  readonly readOnly?: boolean;
  /** Discards the derived files and reads the whole log again. */
  readonly rebuild?: boolean;
  /**
   * Called with the bytes that a crash left after the last good commit, before they are truncated.
   */
  readonly onTorn?: ((torn: TornTail) => void) | undefined;
  /** The file system; for tests that break it. */
  readonly disk?: Disk;
};

const EMPTY: Committed = { frontier: { size: 0, hashes: [] }, position: 0 };
const SEGMENT_BYTES = 256 << 20;

/** Opens the files of a log and recovers the last committed state. */
export async function openBundles(options: BundleOptions): Promise<BundleFiles> {
  const { directory, disk = nodeDisk, readOnly = false, segmentBytes = SEGMENT_BYTES } = options;
  const segmentDirectory = join(directory, "segments");
  const hashDirectory = join(directory, "hashes");
  if (!readOnly) {
    await disk.makeDirectory(segmentDirectory);
    await disk.makeDirectory(hashDirectory);
  }
  const unlock = readOnly ? () => Promise.resolve() : await lockDirectory(join(directory, "lock"));
  const segments = await Segments.open(disk, segmentDirectory, readOnly ? "read" : "write").catch(
    async (error: unknown) => {
      await unlock();
      throw readFailure("open", error);
    },
  );
  const derived = new DerivedFiles(disk, hashDirectory, readOnly ? "read" : "create");

  const settle = async (removed: Removed | undefined): Promise<Committed> => {
    const sealed = await readSealed(disk, directory);
    // Read only now: the files that `sealed` refers to exist before it does.
    if (readOnly && sealed !== undefined) await segments.refresh("read");
    const found = sealed === undefined ? undefined : await findCommitted(segments, sealed);
    if (readOnly) return found ?? EMPTY;
    const from = options.rebuild === true || found === undefined ? (removed ?? EMPTY) : found;
    // `sealed` also when it does not match: bytes that were sealed cannot be a torn write.
    const settled = await recoverTail(
      segments,
      derived,
      from,
      sealed?.position ?? 0,
      async (place, rest) => {
        const torn = await saveTornTail(disk, directory, place, rest);
        options.onTorn?.(torn);
      },
    );
    if (removed !== undefined) await segments.removeBefore(removed.position);
    // The bytes that were read may be in the page cache only.
    if (settled.position > 0) await segments.sync(settled.position - 1);
    return settled;
  };
  try {
    const removed = await readRemoved(disk, directory);
    const committed = await settle(removed);
    const parts = { segments, derived, committed, removed, unlock };
    return createBundleFiles({ disk, directory, segmentBytes, readOnly, ...parts });
  } catch (error) {
    await segments.close();
    await derived.close();
    await unlock();
    throw readFailure("open", error);
  }
}
