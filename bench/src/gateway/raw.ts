import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { nginxVersion } from "./nginx.js";
import type { Settings } from "./settings.js";
import type { HoldMeasurement, RateMeasurement } from "./measure-variant.js";
import type { Memory } from "./usage.js";
import type { Measured } from "./session.js";
import type { Variant, VariantId } from "./variant.js";

/** All measurements of one round, by variant. */
export type Round = {
  rates: { [Id in VariantId]?: RateMeasurement };
  live: { [Id in VariantId]?: Measured };
  holding: { [Id in VariantId]?: HoldMeasurement };
  bareServer?: { empty: Memory; idle: Memory };
};

/** The stored result of a bench run: the source of all tables and plots. */
export type Raw = {
  readonly system: System;
  readonly settings: Settings;
  readonly variants: readonly Pick<Variant, "id" | "label" | "parts">[];
  readonly repeats: Round[];
};

/** The machine, as far as it affects figures. */
export type System = {
  readonly node: string;
  readonly kernel: string;
  readonly processor: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly openFiles: string;
  readonly nginx: string | undefined;
  readonly commit: string | undefined;
  readonly loadBefore: number;
  readonly at: string;
};

/** Reads the properties of the machine. */
export function describeSystem(): System {
  const limits = readFileSync("/proc/self/limits", "utf8");
  return {
    node: process.version,
    kernel: readFileSync("/proc/sys/kernel/osrelease", "utf8").trim(),
    processor: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    memoryBytes: totalmem(),
    openFiles: /^Max open files\s+(\S+)/mu.exec(limits)?.[1] ?? "unknown",
    nginx: nginxVersion(),
    commit: commit(),
    loadBefore: loadavg()[0] ?? Number.NaN,
    at: new Date().toISOString(),
  };
}

function commit(): string | undefined {
  try {
    const args = ["rev-parse", "--short", "HEAD"];
    return execFileSync("git", args, { encoding: "utf8", stdio: "pipe" }).trim();
  } catch {
    return undefined;
  }
}
