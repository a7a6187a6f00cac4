import { canonicalJson } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { AgUiEvent } from "../../model/event.js";
import type { RunAgentInput } from "../../model/input.js";
import { meetsReducerDifference } from "../../testing/known-differences.js";
import { officialResult } from "../../testing/official-pipeline.js";
import { officialWire, withoutSuppliedLists } from "../../testing/official-wire.js";
import { ourPipeline } from "../../testing/our-pipeline.js";

/**
 * The rules that only our pipeline has, or applies earlier: `docs/wire/differences.md`, Decoding
 * and Translation.
 */
const STRICTER = new Set([
  "ERR_DIALECT_THINKING_NOT_OPEN",
  "ERR_JSON_DUPLICATE_KEY",
  "ERR_JSON_UNSAFE_NUMBER",
  "ERR_JSON_LONE_SURROGATE",
  "ERR_JSON_TOO_DEEP",
  "ERR_SSE_UTF8",
]);

/** How one comparison went: equal throughout, equal up to a written difference, or not equal. */
export type Comparison =
  | { kind: "equal"; refused: boolean }
  | { kind: "difference"; name: string }
  | { kind: "unequal"; facts: object };

const UUID = /"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"/gu;

/** One text for values that mean the same: keys sorted, minted ids numbered as they occur. */
function fingerprint(value: unknown): string {
  const text = canonicalJson(JSON.parse(JSON.stringify(value ?? null)) as JsonValue);
  const ids = new Map<string, string>();
  return text.replaceAll(UUID, (id) => {
    const known = ids.get(id) ?? `"minted ${ids.size}"`;
    ids.set(id, known);
    return known;
  });
}

/** Feeds the same pieces to our whole pipeline and to the real client's, and compares what comes out. */
export async function comparePipelines(
  input: RunAgentInput,
  pieces: readonly Uint8Array[],
): Promise<Comparison> {
  const ours = ourPipeline(input, pieces);
  const official = officialWire(pieces);
  const passed = ours.passed.map(withoutSuppliedLists);
  const stricter = ours.reason !== undefined && STRICTER.has(ours.reason);
  if (stricter && (official.failedAt ?? Infinity) >= (ours.failedAt ?? 0)) {
    // Both pipelines must have passed the same earlier events.
    const before = fingerprint(official.passed.slice(0, passed.length));
    if (before === fingerprint(passed)) return { kind: "difference", name: ours.reason ?? "" };
  }
  if (ours.failedAt !== official.failedAt || fingerprint(passed) !== fingerprint(official.passed)) {
    return { kind: "unequal", facts: { stage: "verdict", input, ours, official } };
  }
  if (meetsReducerDifference(input, ours.passed)) return { kind: "difference", name: "reducer" };
  const theirs = await officialView(input, official.passed);
  const view = {
    messages: ours.view.messages,
    state: ours.view.state,
    interrupts: ours.view.pendingInterrupts,
    pending: ours.view.status === "finished" ? ours.view.pendingToolCallIds : null,
  };
  const expected = { ...theirs, pending: view.pending === null ? null : theirs.pending };
  if (fingerprint(view) !== fingerprint(expected)) {
    return { kind: "unequal", facts: { stage: "view", input, passed, view, expected } };
  }
  return { kind: "equal", refused: ours.failedAt !== undefined };
}

async function officialView(
  input: RunAgentInput,
  events: readonly AgUiEvent[],
): Promise<{ messages: unknown; state: unknown; interrupts: unknown; pending: unknown }> {
  const result = await officialResult(input, events);
  return {
    messages: result.messages,
    state: result.state,
    interrupts: result.pendingInterrupts,
    pending: result.pendingToolCallIds ?? null,
  };
}
