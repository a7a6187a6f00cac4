import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CountersignError } from "@countersign/core";
import { exportPrivateKeyPem, generateKey } from "@countersign/core/sign";
import { createNoteKey } from "@countersign/receipts";
import { InvalidArgumentError } from "commander";
import type { Command } from "commander";
import { pathExists } from "../../files/path-exists.js";
import { COMMAND } from "../../output/command-name.js";
import { printJson, printLine } from "../../output/print.js";
import "../errors.js";
import { collectLogKey } from "../receipts/trust.js";
import { describeWitness } from "./show.js";
import { vkeyOf, WITNESS_DIRECTORY, WITNESS_FILES } from "./witness-directory.js";

type Flags = { name: string; log?: string[]; json?: boolean };

const EXAMPLE = `
The operator of the log sends you its vkey (countersign keys show). You send back the vkey that this command prints. Keep the
directory: a witness that forgot what it cosigned must not sign again.

Examples:
  $ countersign witness init --name witness.example.com/w1 --log "$LOG_VKEY"
  $ countersign witness serve --host 0.0.0.0 --port 8090
`;

/** Adds `countersign witness init`. */
export function registerInitWitness(group: Command): void {
  group
    .command("init")
    .description("make the key and the directory of a new witness")
    .argument("[directory]", "new directory", WITNESS_DIRECTORY)
    .requiredOption("--name <name>", "name of the witness, a URL without https://", readName)
    .option("--log <vkey>", "log whose checkpoints it cosigns (repeatable)", collectLogKey)
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLE)
    .action(init);
}

function readName(text: string): string {
  try {
    if (text.includes("://")) throw new TypeError("a scheme");
    createNoteKey(text, new Uint8Array(32));
    return text;
  } catch {
    throw new InvalidArgumentError(
      "Write a name without https://, spaces and plus signs, such as witness.example.com/w1.",
    );
  }
}

async function init(directory: string, { name, log = [], json }: Flags): Promise<void> {
  if (pathExists(join(directory, WITNESS_FILES.key))) {
    throw new CountersignError(
      "ERR_CLI_WITNESS_EXISTS",
      `${directory} has a witness already. Fix: name another directory; ${COMMAND} witness show prints the vkey of this one`,
      { directory },
    );
  }
  await mkdir(join(directory, WITNESS_FILES.state), { recursive: true, mode: 0o700 });
  const key = generateKey();
  const put = (file: string, text: string, mode = 0o644): Promise<void> =>
    writeFile(join(directory, file), text, { flag: "wx", mode });
  await put(WITNESS_FILES.name, `${name}\n`);
  const note = "# Logs whose checkpoints this witness cosigns: one vkey per line.\n";
  await put(WITNESS_FILES.logs, `${note}${log.map((vkey) => `${vkey}\n`).join("")}`);
  await put(WITNESS_FILES.key, exportPrivateKeyPem(key), 0o600);
  const vkey = vkeyOf(name, key);
  if (json === true) {
    printJson({ directory, name, vkey, logs: log });
    return;
  }
  printLine(`made the witness ${name} in ${directory}`);
  printLine("");
  printLine(describeWitness(vkey));
  printLine("");
  if (log.length === 0) {
    printLine(`It accepts no log yet. Add the vkey of a log to ${join(directory, "logs")}`);
  }
  printLine(`Start it: ${COMMAND} witness serve ${directory}`);
}
