import { readFileSync } from "node:fs";

/** Microseconds of processor the event loop's own thread has used; undefined where the system does not tell. */
export function mainThreadMicroseconds(): number | undefined {
  try {
    const text = readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8");
    return Number(text.split(" ")[0]) / 1_000;
  } catch {
    return undefined;
  }
}
