import { createHash } from "node:crypto";
import { decodeEntry } from "../entry/decode-entry.js";
import type { LogEntry } from "../entry/entry.js";

/** The ids of a run. A client chooses run ids; with its thread a run is one run. */
export type RunName = { readonly run_id: string; readonly thread_id?: string };

/** Summary of the entries of a run. */
export type RunFacts = {
  readonly entries: { readonly count: number; readonly first: number; readonly last: number };
  readonly decisions: {
    readonly allowed: number;
    readonly blocked: number;
    /** Allowed entries that violate a rule: enforce mode would have blocked them. */
    readonly would_block: number;
  };
  /** The hashes of the policies that decided, sorted. */
  readonly policies: string[];
  /** Lower-case hex SHA-256 of the entries of the run in the order of the log, each followed by a line feed. */
  readonly transcript: string;
};

/** Collects the entries of one run from a log. */
export type RunSummary = {
  /** Takes the next entry of the log; those of other runs are ignored. */
  add(bytes: Uint8Array): void;
  /** Undefined without an entry of the run. */
  facts(): RunFacts | undefined;
};

function isOfRun(entry: LogEntry, run: RunName): boolean {
  return entry.run_id === run.run_id && entry.thread_id === run.thread_id;
}

/** Starts the summary of a run in a part of a log; memory does not grow with its entries. */
export function createRunSummary(
  run: RunName,
  part: { readonly first: number; readonly size: number },
): RunSummary {
  const hash = createHash("sha256");
  const policies = new Set<string>();
  const counts = { allowed: 0, blocked: 0, would_block: 0 };
  let place: { count: number; first: number; last: number } | undefined;
  return {
    add(bytes) {
      const entry = decodeEntry(bytes);
      if (entry.seq < part.first || entry.seq >= part.size || !isOfRun(entry, run)) return;
      const { seq, receipt, rule, policy_hash: policy } = entry;
      place = { first: place?.first ?? seq, last: seq, count: (place?.count ?? 0) + 1 };
      policies.add(policy);
      counts[receipt.allowed ? "allowed" : "blocked"] += 1;
      if (receipt.allowed && rule !== undefined) counts.would_block += 1;
      hash.update(bytes).update("\n");
    },
    facts() {
      if (place === undefined) return undefined;
      return {
        entries: place,
        decisions: { ...counts },
        policies: [...policies].toSorted(),
        transcript: hash.copy().digest("hex"),
      };
    },
  };
}
