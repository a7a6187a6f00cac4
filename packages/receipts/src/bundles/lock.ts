import { open, readFile, rm } from "node:fs/promises";
import { CountersignError } from "@countersign/core";
import { openDatabase } from "../store/sqlite-engine.js";
import "../store/errors.js";

/**
 * The start time of a process, where the system provides it: a reused pid is then not mistaken for
 * the process.
 */
async function startOf(pid: number): Promise<string> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may hold spaces; field 22 counts from the start of the line.
    return text.slice(text.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  } catch {
    return "";
  }
}

async function isAlive(pid: number, start: string): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // A process of another user may not be signalled, but it exists.
    if (!(error instanceof Error && "code" in error && error.code === "EPERM")) return false;
  }
  return start === "" || (await startOf(pid)) === start;
}

/** The process that the lock file names. */
async function readHolder(path: string): Promise<{ pid: number; start: string }> {
  const held = await readFile(path, "utf8").catch(() => "");
  const [pidText = "", start = ""] = held.trim().split(" ");
  const pid = Number(pidText);
  return { pid: Number.isInteger(pid) && pid > 0 ? pid : 0, start };
}

const SQLITE_BUSY = 5;

/**
 * A lock of the operating system, which SQLite can hold and Node cannot. One process holds it, even
 * when several start at once or run in different process namespaces, as containers do. The system
 * releases it when that process dies.
 */
async function lockFile(path: string): Promise<() => void> {
  const database = await openDatabase(`${path}.sqlite`);
  try {
    // Nothing is ever written; without this pragma SQLite would leave an empty journal beside it.
    database.exec("PRAGMA journal_mode = MEMORY; PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    const code = error instanceof Error && "errcode" in error ? Number(error.errcode) : 0;
    if ((code & 0xff) !== SQLITE_BUSY) throw error;
    const { pid } = await readHolder(path);
    throw new CountersignError("ERR_STORE_LOCKED", "another process writes to this log", { pid });
  }
  return () => database.close();
}

/** Locks a directory for one writer; the lock of a dead process is taken over. */
export async function lockDirectory(path: string): Promise<() => Promise<void>> {
  const release = await lockFile(path);
  try {
    const remove = await writeHolder(path);
    return async () => {
      await remove();
      release();
    };
  } catch (error) {
    release();
    throw error;
  }
}

/**
 * Writes the lock file, unless a live writer of an older version, which uses this file only, holds
 * it.
 */
async function writeHolder(path: string): Promise<() => Promise<void>> {
  const mine = `${process.pid} ${await startOf(process.pid)}\n`;
  for (let attempt = 0; attempt < 5; attempt += 1) {
    try {
      const handle = await open(path, "wx", 0o600);
      await handle.writeFile(mine);
      await handle.close();
      return () => rm(path, { force: true });
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
    const { pid, start } = await readHolder(path);
    if (pid > 0 && (await isAlive(pid, start))) {
      throw new CountersignError("ERR_STORE_LOCKED", "another process writes to this log", { pid });
    }
    await rm(path, { force: true });
  }
  throw new CountersignError("ERR_STORE_LOCKED", "the lock of this log keeps changing", { pid: 0 });
}
