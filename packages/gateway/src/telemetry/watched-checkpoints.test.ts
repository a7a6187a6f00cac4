import { CountersignError } from "@countersign/core";
import type { ReceiptStore } from "@countersign/receipts/log";
import { expect, test } from "vitest";
import { createTelemetry } from "./telemetry.js";
import { watchCheckpoints } from "./watched-store.js";

test("failed checkpoints are counted each, and reported when that begins, changes and ends", async () => {
  const lines: unknown[] = [];
  const quiet = (): void => {};
  const journal = {
    debug: quiet,
    warn: quiet,
    info: (_: object, message: string) => lines.push(message),
    error: (facts: object) => lines.push(facts),
  };
  const telemetry = createTelemetry();
  const below = { writeCheckpoint: async () => undefined } as unknown as ReceiptStore;
  const { store, onCheckpointError } = watchCheckpoints(below, telemetry, journal);
  await store.writeCheckpoint("", 1);
  const foreign = new CountersignError("ERR_LOG_FOREIGN_TAIL", "", { size: 2, covered: 1 });
  onCheckpointError(foreign);
  onCheckpointError(foreign);
  onCheckpointError(new Error("other"));
  await store.writeCheckpoint("", 2);
  await store.writeCheckpoint("", 3);
  expect(telemetry.receipts.checkpointFailures).toBe(3);
  expect(lines).toEqual([
    { code: "ERR_LOG_FOREIGN_TAIL" },
    { code: "INTERNAL" },
    "checkpoints are signed again",
  ]);
});
