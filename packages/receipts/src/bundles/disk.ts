import { fdatasync, writev, writevSync } from "node:fs";
import { constants, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { dirname } from "node:path";

/** One open file; every position is explicit. */
export type DiskFile = {
  /**
   * Writes the pieces in order. The write is done when it returns, or when the returned promise
   * resolves.
   */
  write(pieces: readonly Uint8Array[], position: number): Promise<void> | undefined;
  /**
   * Writes the pieces in order; resolves when they are on disk. Earlier writes may still be in
   * memory.
   */
  writeThrough(pieces: readonly Uint8Array[], position: number): Promise<void>;
  /** Fewer bytes than asked only at the end of the file. */
  read(length: number, position: number): Promise<Uint8Array>;
  size(): Promise<number>;
  truncate(length: number): Promise<void>;
  /** Returns when the bytes are on disk (`fdatasync`). */
  sync(): Promise<void>;
  close(): Promise<void>;
};

/** The file system as the bundle store uses it: each method that changes something is a write point. */
export type Disk = {
  open(path: string, mode: "create" | "write" | "read"): Promise<DiskFile>;
  readText(path: string): Promise<string | undefined>;
  /** Names in a directory, sorted; empty when the directory does not exist. */
  list(path: string): Promise<string[]>;
  makeDirectory(path: string): Promise<void>;
  /**
   * Replaces a file atomically: writes a temporary file, syncs it, renames it, syncs the directory.
   */
  replace(path: string, text: string): Promise<void>;
  syncDirectory(path: string): Promise<void>;
  remove(path: string): Promise<void>;
};

/** The operating system accepts at most this many pieces per call (IOV_MAX). */
const MAX_PIECES = 1_024;
/**
 * Writes of up to this many bytes are synchronous: copying them into the page cache takes tens of
 * microseconds, and a round trip to a thread takes longer. Only the sync after it waits for the
 * disk.
 */
const MAX_IMMEDIATE_BYTES = 64 * 1024;

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

function write(
  handle: FileHandle,
  pieces: readonly Uint8Array[],
  position: number,
): Promise<void> | undefined {
  const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
  if (bytes > MAX_IMMEDIATE_BYTES) return writeAll(handle, pieces, position);
  let rest = pieces;
  for (let done = 0; done < bytes;) {
    const written = writevSync(handle.fd, rest.slice(0, MAX_PIECES), position + done);
    done += written;
    if (done < bytes) rest = remaining(rest, written);
  }
  return undefined;
}

async function writeAll(
  handle: FileHandle,
  pieces: readonly Uint8Array[],
  position: number,
): Promise<void> {
  let at = position;
  for (let rest = pieces; rest.length > 0;) {
    const { bytesWritten } = await handle.writev(rest.slice(0, MAX_PIECES), at);
    at += bytesWritten;
    rest = remaining(rest, bytesWritten);
  }
}

/** The same through a file opened with O_DSYNC: write and sync are one operation for a thread. */
function writeThrough(
  handle: FileHandle,
  pieces: readonly Uint8Array[],
  position: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const go = (rest: readonly Uint8Array[], at: number): void => {
      // A plain callback, as with `sync`.
      writev(handle.fd, rest.slice(0, MAX_PIECES), at, (error, written) => {
        if (error !== null) {
          reject(error);
          return;
        }
        const left = remaining(rest, written);
        if (left.length === 0) resolve();
        else go(left, at + written);
      });
    };
    go(pieces, position);
  });
}

/**
 * The pieces without their first `bytes` bytes: a nearly full disk accepts part of a write without
 * an error.
 */
function remaining(pieces: readonly Uint8Array[], bytes: number): Uint8Array[] {
  let skip = bytes;
  let done = 0;
  for (; done < pieces.length; done += 1) {
    const { length } = pieces[done] as Uint8Array;
    if (skip < length) break;
    skip -= length;
  }
  const rest = pieces.slice(done);
  if (skip > 0) rest[0] = (rest[0] as Uint8Array).subarray(skip);
  return rest;
}

function wrap(handle: FileHandle, path: string): DiskFile {
  let through: Promise<FileHandle> | undefined;
  const sync = (): Promise<void> =>
    // A plain callback: the method of the handle creates five promises, at every flush.
    new Promise((resolve, reject) => {
      fdatasync(handle.fd, (error) => (error === null ? resolve() : reject(error)));
    });
  return {
    write: (pieces, position) => write(handle, pieces, position),
    async writeThrough(pieces, position) {
      if (!CAN_WRITE_THROUGH) {
        await write(handle, pieces, position);
        await sync();
        return;
      }
      if (through === undefined) {
        through = open(path, FLAGS.write | constants.O_DSYNC);
        // The next call retries a failed open.
        through.catch(() => {
          through = undefined;
        });
      }
      await writeThrough(await through, pieces, position);
    },
    async read(length, position) {
      const bytes = Buffer.allocUnsafe(length);
      let done = 0;
      while (done < length) {
        const { bytesRead } = await handle.read(bytes, done, length - done, position + done);
        if (bytesRead === 0) break;
        done += bytesRead;
      }
      return bytes.subarray(0, done);
    },
    size: async () => (await handle.stat()).size,
    truncate: (length) => handle.truncate(length),
    sync,
    async close() {
      await (await through?.catch(() => undefined))?.close();
      await handle.close();
    },
  };
}

const FLAGS = {
  create: constants.O_RDWR | constants.O_CREAT,
  write: constants.O_RDWR,
  read: constants.O_RDONLY,
} as const;

/** On other systems a sync may do more than this flag asks for (F_FULLFSYNC on macOS). */
const CAN_WRITE_THROUGH = process.platform === "linux";

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Larger than a checkpoint or a key history may be. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024;

function systemError(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(code), { code });
}

/**
 * Opens regular files only. Opening a pipe waits for its other end, and a device has no end; an
 * untrusted directory may hold both.
 */
async function openRegular(path: string, flags: number): Promise<FileHandle> {
  const handle = await open(path, flags | constants.O_NONBLOCK, 0o600);
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw systemError("EFTYPE");
}

/** The real file system. */
export const nodeDisk: Disk = {
  open: async (path, mode) => wrap(await openRegular(path, FLAGS[mode]), path),
  async readText(path) {
    let handle: FileHandle;
    try {
      handle = await openRegular(path, FLAGS.read);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
    try {
      if ((await handle.stat()).size > MAX_TEXT_BYTES) throw systemError("EFBIG");
      return await handle.readFile("utf8");
    } finally {
      await handle.close();
    }
  },
  async list(path) {
    try {
      return (await readdir(path)).sort();
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  },
  async makeDirectory(path) {
    await mkdir(path, { recursive: true, mode: 0o700 });
  },
  async replace(path, text) {
    const beside = `${path}.new`;
    // Never write through a symbolic link that was placed there.
    await rm(beside, { force: true });
    const handle = await open(beside, "wx", 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(beside, path);
    await syncDirectory(dirname(path));
  },
  syncDirectory,
  async remove(path) {
    await rm(path, { force: true });
  },
};
