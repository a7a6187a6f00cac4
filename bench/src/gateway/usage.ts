import { readFileSync, readdirSync, rmSync, existsSync } from "node:fs";
import { sleep } from "./clock.js";

/** Memory of a program: its share of resident pages, and its live JavaScript heap. */
export type Memory = { readonly pssBytes: number; readonly heapBytes?: number };

/** Processor time of processes with all their threads, in nanoseconds. */
export function processorTime(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + timeOf(pid), 0);
}

function timeOf(pid: number): number {
  let nanoseconds = 0;
  // The stat file counts in hundredths of a second, which is too coarse for a cheap proxy.
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const text = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8");
      nanoseconds += Number(text.split(" ")[0]);
    } catch {
      // The thread has ended meanwhile.
    }
  }
  return nanoseconds;
}

/**
 * Waits until processes are idle: an index that catches up after a flood would otherwise count in
 * the next measurement.
 */
export async function settle(pids: readonly number[]): Promise<void> {
  for (let tries = 0; tries < 15 && pids.length > 0; tries++) {
    const before = processorTime(pids);
    await sleep(0.2);
    if (processorTime(pids) - before < 1e7) return;
  }
}

/** Processor time of the whole machine that was not idle, in nanoseconds. */
export function machineTime(): number {
  const line = readFileSync("/proc/stat", "utf8").split("\n")[0] ?? "";
  const [user = 0, nice = 0, system = 0, , , interrupt = 0, soft = 0, stolen = 0] = line
    .trim()
    .split(/\s+/u)
    .slice(1)
    .map(Number);
  return (user + nice + system + interrupt + soft + stolen) * 1e7;
}

/** Resident memory, with pages shared between processes counted once. */
export function residentBytes(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
    return sum + Number(/^Pss:\s+(\d+) kB/mu.exec(text)?.[1]) * 1024;
  }, 0);
}

/** Lets the program collect its garbage if it can, then reads its memory. */
export async function settledMemory(
  pids: readonly number[],
  memoryFile: string | undefined,
): Promise<Memory> {
  const [main] = pids;
  if (memoryFile === undefined || main === undefined) return { pssBytes: residentBytes(pids) };
  rmSync(memoryFile, { force: true });
  process.kill(main, "SIGUSR2");
  for (let waited = 0; !existsSync(memoryFile) && waited < 100; waited++) await sleep(0.1);
  await sleep(0.3);
  const { heapBytes } = JSON.parse(readFileSync(memoryFile, "utf8")) as { heapBytes: number };
  return { pssBytes: residentBytes(pids), heapBytes };
}

/** A process and its children. */
export function withChildren(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  return [pid, ...text.split(" ").filter(Boolean).map(Number)];
}
