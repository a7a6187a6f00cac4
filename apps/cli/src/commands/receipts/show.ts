import { CountersignError } from "@countersign/core";
import { decodeEntry } from "@countersign/receipts";
import type { LogEntry } from "@countersign/receipts";
import type { ReceiptStore } from "@countersign/receipts/log";
import type { Command } from "commander";
import { printJson } from "../../output/print.js";
import "../errors.js";
import { addPlaceFlags, findPlace, withStore } from "./place.js";
import type { PlaceFlags } from "./place.js";

const EXAMPLE = `
Example:
  $ countersign receipts show 1024
  $ countersign receipts show agui-evt_01JD0Z0000000000000000000
`;

/** Adds `countersign receipts show`. */
export function registerShow(group: Command): void {
  const command = group
    .command("show")
    .description("one entry, by its number in the log or by its receipt id")
    .argument("<which>", "number or receipt id");
  addPlaceFlags(command)
    .option("--json", "for machines (the entry is JSON either way)")
    .addHelpText("after", EXAMPLE)
    .action(async (which: string, flags: PlaceFlags) => {
      printJson(await withStore(findPlace(flags), (store) => findEntry(store, which)));
    });
}

/** Finds an entry by number or by receipt id. */
export async function findEntry(store: ReceiptStore, which: string): Promise<LogEntry> {
  if (/^\d+$/.test(which)) {
    const seq = Number(which);
    const { size } = await store.head();
    if (seq >= size) throw unknown(which);
    const [bytes] = await store.readEntries(seq, seq + 1);
    if (bytes === undefined) throw unknown(which);
    return decodeEntry(bytes);
  }
  const { entries } = await store.query({ id: which }, { limit: 1 });
  const [entry] = entries;
  if (entry === undefined) throw unknown(which);
  return entry;
}

function unknown(which: string): CountersignError {
  return new CountersignError("ERR_CLI_NO_RECEIPT", `no receipt ${which} is in this log`, {
    which,
  });
}
