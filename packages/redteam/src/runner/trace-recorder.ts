import type { JsonValue } from "@countersign/core";
import type { TraceEntry } from "../oatf/index.js";
import type { RunnerLimits } from "./options.js";

/** The protocol of entries that tell what happened on the wire without being AG-UI messages. */
export const WIRE = "wire";

/** An entry before it has a number. */
export type TraceDraft = Omit<TraceEntry, "seq" | "timestamp" | "protocol"> & {
  readonly protocol?: string;
};

/** The messages of one document in the order in which they were sent or received. */
export type TraceRecorder = {
  readonly entries: readonly TraceEntry[];
  /** Whether something was left out because a bound was reached. */
  readonly truncated: boolean;
  /** Keeps an entry; `false` when the trace is full. `length` is its size in code units. */
  record(draft: TraceDraft, length: number): boolean;
};

/** An empty trace. Whatever does not fit is dropped, and said to be dropped. */
export function createTraceRecorder(
  limits: Pick<RunnerLimits, "maxTraceEntries" | "maxTraceLength">,
): TraceRecorder {
  const entries: TraceEntry[] = [];
  let total = 0;
  let truncated = false;
  return {
    entries,
    get truncated() {
      return truncated;
    },
    record(draft, length) {
      total += length;
      if (entries.length >= limits.maxTraceEntries || total > limits.maxTraceLength) {
        truncated = true;
        return false;
      }
      const timestamp = new Date().toISOString();
      entries.push({ protocol: "ag_ui", ...draft, seq: entries.length, timestamp });
      return true;
    },
  };
}

/** The code units a value takes as JSON. */
export function lengthOf(value: JsonValue): number {
  return JSON.stringify(value).length;
}
