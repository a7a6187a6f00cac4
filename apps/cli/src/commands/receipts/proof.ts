import { writeFile } from "node:fs/promises";
import { CountersignError } from "@countersign/core";
import { proveEntry } from "@countersign/receipts/log";
import type { Command } from "commander";
import { requireFolder } from "../../files/path-exists.js";
import { printJson, printLine } from "../../output/print.js";
import "../errors.js";
import { findEntry, newestCheckpoint, witnessedCheckpoint } from "./find.js";
import { addLocationFlags, findLocation, withStore } from "./location.js";
import type { LocationFlags } from "./location.js";

type Flags = LocationFlags & { output?: string; json?: boolean };

const EXAMPLE = `
An auditor needs the proof and the entry, which countersign receipts show --json prints.

Examples:
  $ countersign receipts proof 1024 --output 1024.tlog-proof
  $ countersign receipts show 1024 --json > 1024.json
  $ countersign receipts verify 1024.json --proof 1024.tlog-proof --log-key "$VKEY"
`;

/** Adds `countersign receipts proof`. */
export function registerProof(group: Command): void {
  const command = group
    .command("proof")
    .description("print the proof that an entry is in the log of the newest signed checkpoint")
    .argument("<which>", "number of the entry, or receipt id");
  addLocationFlags(command)
    .option("-o, --output <file>", "file to write (default: standard output)")
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLE)
    .action(prove);
}

async function prove(which: string, flags: Flags): Promise<void> {
  requireFolder("--output", flags.output);
  const { seq, size, proof } = await withStore(findLocation(flags), async (store) => {
    const newest = await newestCheckpoint(store);
    const entry = await findEntry(store, which);
    // A cosigned checkpoint proves more than a newer one without cosignatures.
    const witnessed = await witnessedCheckpoint(store).catch(() => newest);
    const isCovered = entry.seq < witnessed.size && witnessed.size <= newest.size;
    const checkpoint = isCovered ? witnessed : newest;
    if (entry.seq >= checkpoint.size) {
      throw new CountersignError(
        "ERR_CLI_NO_CHECKPOINT",
        `entry ${entry.seq} is newer than the last signed checkpoint. Fix: try again in a second, while the gateway runs`,
        {},
      );
    }
    const text = await proveEntry(store, entry.seq, checkpoint.text);
    return { seq: entry.seq, size: checkpoint.size, proof: text };
  });
  if (flags.output !== undefined) await writeFile(flags.output, proof);
  if (flags.json === true) {
    printJson({ seq, size, ...(flags.output === undefined ? { proof } : { file: flags.output }) });
  } else if (flags.output === undefined) process.stdout.write(proof);
  else printLine(`wrote ${flags.output}: proof of entry ${seq} in a log of ${size} entries`);
}
