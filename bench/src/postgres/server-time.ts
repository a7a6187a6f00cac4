import { readFileSync } from "node:fs";
import { processorTime, withChildren } from "../gateway/usage.js";

/** Processor time of a PostgreSQL server, also of those of its processes that ended, in microseconds. */
export function serverMicroseconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  // cutime and cstime, in hundredths of a second.
  const ended = (Number(fields[13]) + Number(fields[14])) * 10_000;
  return processorTime(withChildren(pid)) / 1_000 + ended;
}
