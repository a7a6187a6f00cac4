import { isCountersignError } from "@countersign/core";
import type { LedgerRow, ThreadLedger } from "../thread/ledger.js";
import type { Clock } from "../base/ports.js";
import { createHealth } from "../base/health.js";
import type { Telemetry } from "./telemetry.js";

/** A ledger that knows whether threads can be read and written now. */
export type WatchedLedger = ThreadLedger & { isReady(): boolean };

/** A thread of no agent: names of agents are not empty. It is forgotten like any other. */
const PROBE_THREAD = JSON.stringify(["", "", "probe"]);

/** The same ledger, with its failures counted; without it no run is taken, whatever the receipts do. */
export function watchLedger(
  ledger: ThreadLedger,
  clock: Clock,
  counts: Telemetry["ledger"],
): WatchedLedger {
  const health = createHealth(() => {
    const row: LedgerRow = { kind: "thread", id: "", value: { at: clock.now() } };
    return ledger.write(PROBE_THREAD, [row]);
  });
  const watched = async <Value>(answer: Promise<Value>): Promise<Value> => {
    try {
      const value = await answer;
      health.succeeded();
      return value;
    } catch (error) {
      if (isOfTheStore(error)) {
        counts.failures += 1;
        health.failed();
      }
      throw error;
    }
  };
  return {
    ...ledger,
    isReady: () => health.isReady(),
    write: (...parameters) => watched(ledger.write(...parameters)),
    claim: (...parameters) => watched(ledger.claim(...parameters)),
  };
}

/** One thread that cannot be read says nothing about the next: whoever sends it must not stop the rest. */
function isOfTheStore(error: unknown): boolean {
  return !isCountersignError(error) || error.code === "ERR_LEDGER_UNAVAILABLE";
}
