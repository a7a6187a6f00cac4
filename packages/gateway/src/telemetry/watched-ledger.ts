import { isCountersignError } from "@countersign/core";
import type { StoredRow, KeyedStore } from "../store/keyed-store.js";
import type { Clock } from "../base/ports.js";
import { createHealth } from "../base/health.js";
import type { Telemetry } from "./telemetry.js";

/** A ledger that knows whether threads can be read and written now. */
export type WatchedLedger = KeyedStore & { isReady(): boolean };

/** A thread without an agent, since agents' names are not empty. It expires like any other. */
const PROBE_THREAD = JSON.stringify(["", "", "probe"]);

/**
 * Wraps a ledger to count its failures. Without the ledger no run is accepted, even when receipts
 * can be written.
 */
export function watchLedger(
  ledger: KeyedStore,
  clock: Clock,
  counts: Telemetry["ledger"],
): WatchedLedger {
  const health = createHealth(() => {
    const row: StoredRow = { kind: "thread", id: "", value: { at: clock.now() } };
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

/**
 * One unreadable thread says nothing about others: its client must not make the gateway unready.
 */
function isOfTheStore(error: unknown): boolean {
  return !isCountersignError(error) || error.code === "ERR_LEDGER_UNAVAILABLE";
}
