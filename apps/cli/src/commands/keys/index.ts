import { join } from "node:path";
import { CountersignError } from "@countersign/core";
import { KEY_FILES, openKey, openKeyHistory, writeLogKey } from "@countersign/gateway";
import type { Command } from "commander";
import pc from "picocolors";
import { pathExists } from "../../files/path-exists.js";
import { giveToFolderOwner, makeFolder } from "../../files/owner.js";
import { printLine } from "../../output/print.js";
import "../errors.js";
import { addLocationFlags, findLocation, logSize } from "../receipts/location.js";
import type { Location, LocationFlags } from "../receipts/location.js";
import { printApiKey } from "./api-key.js";
import { printPublicKeys } from "./public-keys.js";
import { rotateKey } from "./rotate.js";

type Flags = LocationFlags & { rotate?: boolean; json?: boolean };

const NEW_EXAMPLE = `
Rotation needs the gateway to be stopped: the new key signs from the next entry on, and the old key hands over
in keys.jsonl. Whoever trusts the first key needs no new one.

Example:
  $ countersign keys new
  $ countersign keys new --rotate
`;
const SHOW_EXAMPLE = `
Example:
  $ countersign keys show
  $ countersign keys show --json
`;

const API_EXAMPLE = `
Only the hash goes into countersign.yaml (access.keys.entries) or into the file that access.keys.file names.

Example:
  $ countersign keys api support-bot
  $ countersign keys api support-bot --json | jq -r .line >> api-keys.txt
`;

/** Adds `countersign keys …`. */
export function registerKeys(program: Command): void {
  const group = program
    .command("keys")
    .description("the keys receipts and checkpoints are signed with, and API keys for clients");
  addLocationFlags(
    group.command("new").description("make the keys of a gateway, or rotate the receipt key"),
  )
    .option("--rotate", "replace the receipt key; the old one signs the hand-over")
    .option("--json", "for machines")
    .addHelpText("after", NEW_EXAMPLE)
    .action(async (flags: Flags) => {
      const place = findLocation(flags);
      const json = flags.json === true;
      if (flags.rotate === true) {
        const retired = await rotateKey(place, Date.now());
        if (!json) printLine(`${pc.green("rotated")}; the old key is kept in ${retired}`);
      } else {
        await makeKeys(place);
        if (!json) printLine(`${pc.green("made")} keys in ${place.keyDirectory}`);
      }
      await printPublicKeys(place, json);
    });
  addLocationFlags(group.command("show").description("the public keys, for auditors to compare"))
    .option("--json", "for machines")
    .addHelpText("after", SHOW_EXAMPLE)
    .action(async (flags: Flags) => printPublicKeys(findLocation(flags), flags.json === true));
  addApiVerb(group);
}

function addApiVerb(group: Command): void {
  group
    .command("api")
    .argument("<name>", "who will hold the key: letters, digits and any of . @ _ -")
    .description("make an API key for the gateway's data plane; the key is shown once")
    .option("--json", "for machines")
    .addHelpText("after", API_EXAMPLE)
    .action((name: string, flags: { json?: boolean }) => printApiKey(name, flags.json === true));
}

async function makeKeys(place: Location): Promise<void> {
  if (pathExists(join(place.keyDirectory, "receipts.pem"))) {
    throw new CountersignError(
      "ERR_CLI_KEYS_EXIST",
      `${place.keyDirectory} has keys already; \`keys new --rotate\` replaces the receipt key`,
      { directory: place.keyDirectory },
    );
  }
  const firstEntry = await logSize(place);
  makeFolder(place.keyDirectory);
  const key = await openKey(place.keyDirectory, "receipts");
  await openKeyHistory(place.keyDirectory, key, { firstEntry, now: Date.now() });
  const checkpointKey = await openKey(place.keyDirectory, "checkpoint");
  await writeLogKey(place.keyDirectory, place.origin, checkpointKey);
  for (const name of ["receipts.pem", "checkpoint.pem", KEY_FILES.history, KEY_FILES.vkey]) {
    giveToFolderOwner(join(place.keyDirectory, name));
  }
}
