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

/** Entries that are read at once. */
const BATCH = 200;

/** Milliseconds of evaluation after which streams are served: a candidate may have expensive conditions. */
const SLICE_MS = 5;

/** Milliseconds of evaluation of one comparison; a candidate that takes longer is compared with fewer entries. */
const MAX_REPLAY_MS = 10_000;

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

/** Entries have no payloads: class, type and target are judged again, under both policies, the newest first. */
async function replayNewest(
  active: CompiledPolicy,
  candidate: CompiledPolicy,
  newest: number,
  store: ReceiptStore,
): Promise<RecordedChanges> {
  const { size } = await store.head();
  const least = Math.max(await store.first(), size - newest);
  const counts = { judged: 0, newly_blocked: 0, newly_allowed: 0 };
  let spentMs = 0;
  for (let end = size; end > least; end = Math.max(least, end - BATCH)) {
    const entries = await store.readEntries(Math.max(least, end - BATCH), end);
    const lines = entries.map((bytes) => decodeEntry(bytes) as unknown as JsonValue);
    const { subjects } = readRecording(lines, candidate);
    let sliceMs = 0;
    for (const subject of subjects.toReversed()) {
      const before = performance.now();
      const report = replayRecording(candidate, [subject], { baseline: active, maxSamples: 0 });
      sliceMs += performance.now() - before;
      counts.judged += report.judged;
      counts.newly_blocked += report.newlyBlocked;
      counts.newly_allowed += report.newlyAllowed;
      if (sliceMs < SLICE_MS) continue;
      spentMs += sliceMs;
      sliceMs = 0;
      await setImmediate();
      if (spentMs >= MAX_REPLAY_MS) return counts;
    }
    spentMs += sliceMs;
    await setImmediate();
  }
  return counts;
}
