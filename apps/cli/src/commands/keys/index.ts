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
Stop the gateway before you rotate. The new key signs the next entry, and the old key signs the new key in keys.jsonl.
An auditor who trusts the first key needs no other key.

Examples:
  $ countersign keys new
  $ countersign keys new --rotate
`;
const SHOW_EXAMPLE = `
Send auditors the keys over another channel than the receipts.

Examples:
  $ countersign keys show
  $ countersign keys show --json
`;

const API_EXAMPLE = `
Put the hash, not the key, under access.keys.entries in countersign.yaml, or into the file that access.keys.file names.

Examples:
  $ countersign keys api support-bot
  $ countersign keys api support-bot --json | jq -r .line >> api-keys.txt
`;

/** Adds `countersign keys …`. */
export function registerKeys(program: Command): void {
  const group = program
    .command("keys")
    .description("create, rotate and show signing keys, and create API keys for clients");
  addLocationFlags(
    group
      .command("new")
      .description("create the signing keys of a gateway, or rotate the receipt key"),
  )
    .option("--rotate", "replace the receipt key; the old key signs the new one")
    .option("--json", "print JSON")
    .addHelpText("after", NEW_EXAMPLE)
    .action(async (flags: Flags) => {
      const place = findLocation(flags);
      const json = flags.json === true;
      if (flags.rotate === true) {
        const retired = await rotateKey(place, Date.now());
        if (!json)
          printLine(`${pc.green("rotated")} the receipt key; the old key is in ${retired}`);
      } else {
        await makeKeys(place);
        if (!json) printLine(`${pc.green("created")} keys in ${place.keyDirectory}`);
      }
      await printPublicKeys(place, json);
    });
  addLocationFlags(group.command("show").description("show the public keys that auditors need"))
    .option("--json", "print JSON")
    .addHelpText("after", SHOW_EXAMPLE)
    .action(async (flags: Flags) => printPublicKeys(findLocation(flags), flags.json === true));
  addApiVerb(group);
}

function addApiVerb(group: Command): void {
  group
    .command("api")
    .argument("<name>", "name of the holder: letters, digits and any of . @ _ -")
    .description("create an API key for a client of the gateway, and show it once")
    .option("--json", "print JSON")
    .addHelpText("after", API_EXAMPLE)
    .action((name: string, flags: { json?: boolean }) => printApiKey(name, flags.json === true));
}

async function makeKeys(place: Location): Promise<void> {
  if (pathExists(join(place.keyDirectory, "receipts.pem"))) {
    throw new CountersignError(
      "ERR_CLI_KEYS_EXIST",
      `${place.keyDirectory} already has keys. Fix: run countersign keys new --rotate to replace the receipt key`,
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
