import { printableJson } from "@countersign/core";
import { decodeEntry } from "@countersign/receipts";
import type { Command } from "commander";
import pc from "picocolors";
import { asTyped, COMMAND } from "../../output/command-name.js";
import { printLine } from "../../output/print.js";
import { describeEntry, explainEntry } from "./describe.js";
import { findEntry } from "./find.js";
import { printPayload, readPayload } from "./payload.js";
import { addLocationFlags, findLocation, withStore } from "./location.js";
import type { LocationFlags } from "./location.js";
import { describeWitnessed, readWitnessed } from "./witnessed.js";

const EXAMPLE = `
With --json the output is the exact bytes of the log. countersign receipts verify reads them from a file.

Examples:
  $ countersign receipts show 1024
  $ countersign receipts show agui-evt_01JD0Z0000000000000000000
  $ countersign receipts show 1024 --json > entry.json
  $ countersign receipts show 1024 --payload
  $ countersign receipts show 1024 --payload --json | tr -d '\\n' | sha256sum
`;

type ShowFlags = { json?: boolean; payload?: boolean };

/** Adds `countersign receipts show`. */
export function registerShow(group: Command): void {
  const command = group
    .command("show")
    .description("show one entry of the log")
    .argument("<which>", "number of the entry, or receipt id");
  addLocationFlags(command)
    .option("--json", "print the entry itself, as canonical JSON")
    .option(
      "--payload",
      "also print the kept payload, from the evidence store and the key directory; with --json only the payload",
    )
    .addHelpText("after", EXAMPLE)
    .action(async (which: string, flags: LocationFlags & ShowFlags) => {
      const place = findLocation(flags);
      const { bytes, seq, witnessed } = await withStore(place, async (store) => ({
        ...(await findEntry(store, which)),
        witnessed: await readWitnessed(store, place),
      }));
      const entry = decodeEntry(bytes);
      const kept = flags.payload === true ? await readPayload(place, flags, entry) : undefined;
      if (flags.json === true) {
        const text = kept?.payload ?? new TextDecoder().decode(bytes);
        // The same value; only who looks at it instead of piping it must not be fooled.
        process.stdout.write(`${process.stdout.isTTY ? printableJson(text) : text}\n`);
        return;
      }
      printLine(asTyped(explainEntry(entry)));
      printLine("");
      printLine(describeEntry(entry));
      printLine("");
      if (witnessed !== undefined) {
        printLine(describeWitnessed(seq, witnessed, place));
        printLine("");
      }
      if (kept !== undefined) printPayload(kept);
      if (entry.rule !== undefined) {
        printLine(pc.dim(`Policy lines that allow it: ${COMMAND} policy explain ${seq}`));
      }
      printLine(pc.dim(`Prove it: ${COMMAND} receipts proof ${seq}`));
    });
}
