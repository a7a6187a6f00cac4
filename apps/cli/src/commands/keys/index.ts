import { join } from "node:path";
import { CountersignError } from "@countersign/core";
import { KEY_FILES, openKey, openKeyHistory, writeLogKey } from "@countersign/gateway";
import { Argument } from "commander";
import type { Command } from "commander";
import pc from "picocolors";
import { pathExists } from "../../files/path-exists.js";
import { giveToFolderOwner, makeFolder } from "../../files/owner.js";
import { printJson, printLine } from "../../output/print.js";
import "../errors.js";
import { addLocationFlags, findLocation, logSize } from "../receipts/location.js";
import type { Location, LocationFlags } from "../receipts/location.js";
import { printApiKey } from "./api-key.js";
import { printPublicKeys } from "./public-keys.js";
import { rotateIssuerKey, rotateKey } from "./rotate.js";

type Flags = LocationFlags & { rotate?: boolean; json?: boolean };

const NEW_EXAMPLE = `
Stop the gateway before you rotate. The new key signs the next entry, and the old key signs the new key in keys.jsonl.
An auditor who trusts the first key needs no other key.

Examples:
  $ countersign keys new
  $ countersign keys new --rotate
`;
const ROTATE_EXAMPLE = `
receipts  the key that signs receipts, as with countersign keys new --rotate
issuer    the key that signs capability tokens; the gateway accepts old tokens until they expire

Stop every gateway of the log before you rotate, and give all of them the new key directory.
If somebody has the old issuer key, add --distrust-old: the gateway then rejects every token of that key.

Examples:
  $ countersign keys rotate issuer
  $ countersign keys rotate issuer --distrust-old
  $ countersign keys rotate receipts
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
      if (flags.rotate === true) return rotateReceiptsVerb(place, json);
      await makeKeys(place);
      if (!json) printLine(`${pc.green("created")} keys in ${place.keyDirectory}`);
      return printPublicKeys(place, json);
    });
  addLocationFlags(group.command("show").description("show the public keys that auditors need"))
    .option("--json", "print JSON")
    .addHelpText("after", SHOW_EXAMPLE)
    .action(async (flags: Flags) => printPublicKeys(findLocation(flags), flags.json === true));
  addRotateVerb(group);
  addApiVerb(group);
}

type RotateFlags = Flags & { distrustOld?: boolean };

function addRotateVerb(group: Command): void {
  const verb = group
    .command("rotate")
    .description("replace the receipt key or the key that signs capability tokens")
    .addArgument(new Argument("<key>", "which key").choices(["receipts", "issuer"]));
  addLocationFlags(verb)
    .option("--distrust-old", "issuer: reject all tokens of the old key")
    .option("--json", "print JSON")
    .addHelpText("after", ROTATE_EXAMPLE)
    .action(async (name: string, flags: RotateFlags) => {
      if (name === "issuer") return rotateIssuerVerb(findLocation(flags), flags);
      if (flags.distrustOld === true) {
        throw new TypeError("--distrust-old is for the issuer key. Fix: leave it out");
      }
      return rotateReceiptsVerb(findLocation(flags), flags.json === true);
    });
}

async function rotateReceiptsVerb(place: Location, json: boolean): Promise<void> {
  const retired = await rotateKey(place, Date.now());
  if (!json) printLine(`${pc.green("rotated")} the receipt key; the old key is in ${retired}`);
  await printPublicKeys(place, json);
}

async function rotateIssuerVerb(place: Location, flags: RotateFlags): Promise<void> {
  const trustsOld = flags.distrustOld !== true;
  const { old, next } = await rotateIssuerKey(place, { trustsOld });
  if (flags.json === true) return printJson({ old, next, trustsOld });
  printLine(`${pc.green("rotated")} the issuer key`);
  printLine(`  new  ${pc.bold(next)}`);
  printLine(`  old  ${old}, ${trustsOld ? "its tokens are valid until they expire" : "rejected"}`);
  printLine("Next: start the gateways, and replace the old key where other systems trust it.");
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
