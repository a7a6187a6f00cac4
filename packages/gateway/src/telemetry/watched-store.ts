import type { ReceiptStore } from "@countersign/receipts/log";
import type { Telemetry } from "./telemetry.js";
import { isCountersignError } from "@countersign/core";
import type { Journal } from "../base/ports.js";

/** Wraps a store to count and time its flushes: once per flush, however many receipts it holds. */
export function watchStore(store: ReceiptStore, telemetry: Telemetry): ReceiptStore {
  const { receipts, appendTime } = telemetry;
  return {
    ...store,
    append: async (build, durability) => {
      const startedAt = performance.now();
      let count = 0;
      try {
        await store.append((head) => {
          const batch = build(head);
          ({ count } = batch);
          return batch;
        }, durability);
      } catch (error) {
        receipts.failures += 1;
        throw error;
      }
      receipts.appended += count;
      appendTime.observe((performance.now() - startedAt) / 1000);
    },
  };
}

/** A store whose checkpoints are monitored, and the receiver of the reports. */
export type WatchedCheckpoints = {
  readonly store: ReceiptStore;
  onCheckpointError(error: unknown): void;
};

/**
 * Reports to the operator that no checkpoint could be signed. No request fails because of it, so it
 * would go unnoticed. The store retries every second; the report comes when the failure begins,
 * changes and ends.
 */
export function watchCheckpoints(
  store: ReceiptStore,
  { receipts }: Telemetry,
  journal: Journal,
): WatchedCheckpoints {
  let reported: string | undefined;
  return {
    store: {
      ...store,
      writeCheckpoint: async (text, size) => {
        await store.writeCheckpoint(text, size);
        if (reported !== undefined) journal.info({ size }, "checkpoints are signed again");
        reported = undefined;
      },
    },
    onCheckpointError(error) {
      receipts.checkpointFailures += 1;
      const code = isCountersignError(error) ? error.code : "INTERNAL";
      if (code === reported) return;
      reported = code;
      journal.error({ code }, "no checkpoint of the log could be signed");
    },
  };
}
