import { writeFile } from "node:fs/promises";
import { CountersignError } from "@countersign/core";
import { proveEntry } from "@countersign/receipts/log";
import type { Command } from "commander";
import { printLine } from "../../output/print.js";
import "../errors.js";
import { addPlaceFlags, findPlace, withStore } from "./place.js";
import type { PlaceFlags } from "./place.js";
import { findEntry } from "./show.js";

type Flags = PlaceFlags & { output?: string };

const EXAMPLE = `
Example:
  $ countersign receipts proof 1024 --output 1024.tlog-proof
`;

/** Adds `countersign receipts proof`. */
export function registerProof(group: Command): void {
  const command = group
    .command("proof")
    .description("the proof that an entry is in the log, against the newest signed checkpoint")
    .argument("<which>", "number or receipt id");
  addPlaceFlags(command)
    .option("-o, --output <file>", "where to write it; the terminal when left out")
    .addHelpText("after", EXAMPLE)
    .action(prove);
}

async function prove(which: string, flags: Flags): Promise<void> {
  const text = await withStore(findPlace(flags), async (store) => {
    const { seq } = await findEntry(store, which);
    const checkpoint = await store.readCheckpoint();
    if (checkpoint === undefined) {
      throw new CountersignError(
        "ERR_CLI_NO_CHECKPOINT",
        "the log has no signed checkpoint yet; the gateway signs one every second while it grows",
        {},
      );
    }
    return proveEntry(store, seq, checkpoint);
  });
  if (flags.output === undefined) process.stdout.write(text);
  else {
    await writeFile(flags.output, text);
    printLine(`wrote ${flags.output}`);
  }
}
