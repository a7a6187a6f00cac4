import { parseCheckpoint, parseNote } from "@countersign/receipts";
import { readWitnessState } from "@countersign/receipts/witness";
import type { Command } from "commander";
import { printJson, printLine } from "../../output/print.js";
import { readWitnessDirectory, WITNESS_DIRECTORY } from "./witness-directory.js";

const EXAMPLE = `
Examples:
  $ countersign witness show
  $ countersign witness show /srv/witness --json
`;

/** Adds `countersign witness show`. */
export function registerShowWitness(group: Command): void {
  group
    .command("show")
    .description("print the vkey of a witness, and what it cosigned last")
    .argument("[directory]", "directory of the witness", WITNESS_DIRECTORY)
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLE)
    .action(show);
}

/** The lines for the configuration of a gateway. */
export function describeWitness(vkey: string): string {
  return `In countersign.yaml of the gateway:

receipts:
  witnesses:
    threshold: 1
    list:
      - vkey: ${vkey}
        url: http://ADDRESS-OF-THIS-WITNESS:8090/`;
}

async function show(directory: string, flags: { json?: boolean }): Promise<void> {
  const { name, vkey, logs, state } = await readWitnessDirectory(directory);
  const found = [];
  for (const origin of new Set(logs.map((key) => key.name))) {
    const note = await readWitnessState(state, origin);
    const size = note === undefined ? null : parseCheckpoint(parseNote(note).text).size;
    found.push({ origin, size });
  }
  if (flags.json === true) {
    printJson({ name, vkey, logs: found });
    return;
  }
  printLine(`witness ${name}`);
  printLine(`vkey    ${vkey}`);
  for (const { origin, size } of found) {
    printLine(`log     ${origin}: ${size === null ? "nothing cosigned yet" : `${size} entries`}`);
  }
  printLine("");
  printLine(describeWitness(vkey));
}
