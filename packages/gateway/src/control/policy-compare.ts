import { setImmediate } from "node:timers/promises";
import type { JsonValue } from "@countersign/core";
import { compilePolicy } from "@countersign/policy";
import type { CompiledPolicy, PolicyIssue } from "@countersign/policy";
import { readRecording, replayRecording } from "@countersign/policy/cases";
import { comparePolicies } from "@countersign/policy/compare";
import type { PolicyDiff } from "@countersign/policy/compare";
import { decodeEntry } from "@countersign/receipts";
import type { OpenPolicy } from "./ports.js";
import type { ReceiptStore } from "@countersign/receipts/log";

/** Maximum number of entries to judge again: bounds the operator's wait and the gateway's work. */
export const MAX_RECORDED = 5000;

/** Entries per batch; streams are served between two batches. */
const BATCH = 200;

/** Recorded decisions that a candidate would have changed. */
export type RecordedChanges = {
  readonly judged: number;
  readonly newly_blocked: number;
  readonly newly_allowed: number;
};

/** A candidate compared with the active policy, or its problems. */
export type Comparison =
  | { readonly issues: readonly PolicyIssue[] }
  | (PolicyDiff & {
      readonly before: PolicyFacts;
      readonly after: PolicyFacts;
      readonly recorded?: RecordedChanges;
    });

type PolicyFacts = Pick<CompiledPolicy, "name" | "hash" | "mode">;

/** Computes what a candidate would change; see {@link OpenPolicy.check} for the files that it may extend. */
export async function comparePolicy(
  open: Pick<OpenPolicy, "check" | "holder">,
  text: string,
  recorded: number,
  store: ReceiptStore,
): Promise<Comparison> {
  const active = open.holder.current;
  const { policy, issues } = open.check(text);
  if (policy === undefined) return { issues };
  const candidate = compilePolicy(policy);
  const changes =
    recorded === 0 ? undefined : await replayNewest(active, candidate, recorded, store);
  return {
    ...comparePolicies(active.document, candidate.document),
    before: factsOf(active),
    after: factsOf(candidate),
    ...(changes === undefined ? {} : { recorded: changes }),
  };
}

function factsOf({ name, hash, mode }: CompiledPolicy): PolicyFacts {
  return { name, hash, mode };
}

/** Entries have no payloads: class, type and target are judged again, under both policies. */
async function replayNewest(
  active: CompiledPolicy,
  candidate: CompiledPolicy,
  newest: number,
  store: ReceiptStore,
): Promise<RecordedChanges> {
  const { size } = await store.head();
  const counts = { judged: 0, newly_blocked: 0, newly_allowed: 0 };
  for (let start = Math.max(0, size - newest); start < size; start += BATCH) {
    const entries = await store.readEntries(start, Math.min(start + BATCH, size));
    const lines = entries.map((bytes) => decodeEntry(bytes) as unknown as JsonValue);
    const { subjects } = readRecording(lines, candidate.refinements);
    const report = replayRecording(candidate, subjects, { baseline: active, maxSamples: 0 });
    counts.judged += report.judged;
    counts.newly_blocked += report.newlyBlocked;
    counts.newly_allowed += report.newlyAllowed;
    await setImmediate();
  }
  return counts;
}
