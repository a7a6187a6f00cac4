import type { JsonObject, JsonValue } from "@countersign/core";
import { checkReceipts } from "@countersign/receipts/stream";
import type { SeenEvent } from "./client.js";

/** An event as a client got it, and the receipts that came with it. */
export type ShownEvent = { readonly event: SeenEvent; readonly receipts: readonly JsonValue[] };

/** Pairs receipts with their events: they come after the event, or before the end of a run. */
export function pairUp(events: readonly object[]): ShownEvent[] {
  const shown: { event: SeenEvent; receipts: JsonValue[] }[] = [];
  let ahead: JsonValue[] = [];
  for (const event of events as readonly SeenEvent[]) {
    const { type, name, value } = event;
    if (type === "CUSTOM" && name === "countersign.receipt") {
      shown.at(-1)?.receipts.push(value as JsonValue);
    } else if (type === "CUSTOM" && name === "countersign.receipt_ahead") {
      ahead.push(value as JsonValue);
    } else {
      shown.push({ event, receipts: ahead });
      ahead = [];
    }
  }
  return shown;
}

/** The faults of a stream's receipts, one line each; empty when every event has a valid one. */
export async function faultsOf(
  shown: readonly ShownEvent[],
  run: { threadId: string; runId: string },
  key: string,
): Promise<string[]> {
  const faults: string[] = [];
  let about = "";
  const check = checkReceipts({
    trustedKeys: [key],
    onRefused: (fault) => void faults.push(`${about}: ${fault}`),
  });
  for (const { event, receipts } of shown) {
    about = event.type;
    if (receipts.length !== 1) faults.push(`${about}: ${receipts.length} receipts`);
    for (const receipt of receipts) {
      await check(receipt, { event: event as unknown as JsonObject, ...run });
    }
  }
  return faults;
}
