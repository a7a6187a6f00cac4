import { readFileSync } from "node:fs";

/**
 * Microseconds of processor time of the event loop's thread; undefined if the system does not
 * provide it.
 */
export function mainThreadMicroseconds(): number | undefined {
  try {
    const text = readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8");
    return Number(text.split(" ")[0]) / 1_000;
  } catch {
    return undefined;
  }
}
