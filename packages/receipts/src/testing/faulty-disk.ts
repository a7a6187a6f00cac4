import type { Disk, DiskFile } from "../bundles/disk.js";
import { nodeDisk } from "../bundles/disk.js";

/** The fault at the chosen write point. */
export type Fault =
  /** Nothing reaches the disk, and the failure is reported. */
  | "lost"
  /** Everything reaches the disk, but a failure is reported. */
  | "persisted"
  /** Half of a write reaches the disk. */
  | "torn"
  /** The disk is full. */
  | "full";

/** A disk that fails once, at its n-th write point, or permanently from there on. */
export type FaultyDisk = Disk & {
  /** Write points met so far. */
  readonly points: number;
  /** Names of the operations at the points. */
  readonly names: readonly string[];
};

class DiskError extends Error {
  readonly code: string;
  constructor(code: string) {
    super(`injected ${code}`);
    this.code = code;
  }
}

/** Wraps the real disk. `point` 0 never fails. */
export function createFaultyDisk(point: number, fault: Fault, forGood = false): FaultyDisk {
  const names: string[] = [];
  let dead = false;
  const guard = async (
    name: string,
    act: () => Promise<void> | undefined,
    tear?: () => Promise<void> | undefined,
  ): Promise<void> => {
    if (dead) throw new DiskError("EIO");
    names.push(name);
    if (names.length !== point) {
      await act();
      return;
    }
    dead = forGood;
    if (fault === "persisted") await act();
    if (fault === "torn" || fault === "full") await tear?.();
    throw new DiskError(fault === "full" ? "ENOSPC" : "EIO");
  };
  const wrap = (file: DiskFile): DiskFile => ({
    ...file,
    write: (pieces, position) =>
      guard(
        "write",
        () => file.write(pieces, position),
        () => {
          const bytes = Buffer.concat(pieces);
          return file.write([bytes.subarray(0, bytes.length >> 1)], position);
        },
      ),
    writeThrough: (pieces, position) =>
      guard(
        "writeThrough",
        () => file.writeThrough(pieces, position),
        () => {
          const bytes = Buffer.concat(pieces);
          return file.writeThrough([bytes.subarray(0, bytes.length >> 1)], position);
        },
      ),
    truncate: (length) => guard("truncate", () => file.truncate(length)),
    sync: () => guard("sync", () => file.sync()),
  });
  return {
    ...nodeDisk,
    get points() {
      return names.length;
    },
    names,
    open: async (path, mode) => {
      if (mode !== "read") await guard("open", async () => undefined);
      return wrap(await nodeDisk.open(path, mode));
    },
    makeDirectory: (path) => guard("makeDirectory", () => nodeDisk.makeDirectory(path)),
    replace: (path, text) => guard("replace", () => nodeDisk.replace(path, text)),
    syncDirectory: (path) => guard("syncDirectory", () => nodeDisk.syncDirectory(path)),
    remove: (path) => guard("remove", () => nodeDisk.remove(path)),
  };
}
