import type { ReceiptStore } from "@countersign/receipts/log";
import type { Telemetry } from "./telemetry.js";

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
