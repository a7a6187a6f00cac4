import { open, readFile, rm } from "node:fs/promises";
import { CountersignError } from "@countersign/core";
import "../store/errors.js";

/** When a process began, where the system tells: a number used again is then not mistaken for it. */
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
    // Another user's process may not be signalled, but it is there.
    if (!(error instanceof Error && "code" in error && error.code === "EPERM")) return false;
  }
  return start === "" || (await startOf(pid)) === start;
}

/** Takes a directory for one writer; the lock of a dead process is taken over. */
export async function lockDirectory(path: string): Promise<() => Promise<void>> {
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
    const held = await readFile(path, "utf8").catch(() => "");
    const [pidText = "", start = ""] = held.trim().split(" ");
    const pid = Number(pidText);
    if (Number.isInteger(pid) && pid > 0 && (await isAlive(pid, start))) {
      throw new CountersignError("ERR_STORE_LOCKED", "another process writes to this log", { pid });
    }
    await rm(path, { force: true });
  }
  throw new CountersignError("ERR_STORE_LOCKED", "the lock of this log keeps changing", { pid: 0 });
}
