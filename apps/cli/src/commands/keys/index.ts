import { existsSync } from "node:fs";
import { readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { CountersignError } from "@countersign/core";
import { importPrivateKey } from "@countersign/core/sign";
import { handOverKey, KEY_FILES, openKey, openKeyHistory, writeLogKey } from "@countersign/gateway";
import { encodeKeyText } from "@countersign/receipts";
import type { Command } from "commander";
import pc from "picocolors";
import { printJson, printLine } from "../../output/print.js";
import "../errors.js";
import { addPlaceFlags, findPlace, withStore } from "../receipts/place.js";
import type { Place, PlaceFlags } from "../receipts/place.js";

type Flags = PlaceFlags & { rotate?: boolean; json?: boolean };

const NEW_EXAMPLE = `
Rotation needs the gateway to be stopped: the new key signs from the next entry on, and the old key hands over
in keys.jsonl.

Example:
  $ countersign keys new
  $ countersign keys new --rotate
`;
const SHOW_EXAMPLE = `
Example:
  $ countersign keys show
  $ countersign keys show --json
`;

/** Adds `countersign keys …`. */
export function registerKeys(program: Command): void {
  const group = program
    .command("keys")
    .description("the keys receipts and checkpoints are signed with");
  addPlaceFlags(
    group.command("new").description("make the keys of a gateway, or rotate the receipt key"),
  )
    .option("--rotate", "replace the receipt key; the old one signs the hand-over")
    .option("--json", "for machines")
    .addHelpText("after", NEW_EXAMPLE)
    .action(makeKeys);
  addPlaceFlags(group.command("show").description("the public keys, for auditors to compare"))
    .option("--json", "for machines")
    .addHelpText("after", SHOW_EXAMPLE)
    .action(async (flags: Flags) => show(findPlace(flags), flags));
}

async function makeKeys(flags: Flags): Promise<void> {
  const place = findPlace(flags);
  const file = join(place.keyDirectory, "receipts.pem");
  if (flags.rotate !== true) {
    if (existsSync(file)) {
      throw new CountersignError(
        "ERR_CLI_KEYS_EXIST",
        `${place.keyDirectory} has keys already; \`keys new --rotate\` replaces the receipt key`,
        { directory: place.keyDirectory },
      );
    }
    const key = await openKey(place.keyDirectory, "receipts");
    await openKeyHistory(place.keyDirectory, key, { firstEntry: 0, now: Date.now() });
    await writeLogKey(
      place.keyDirectory,
      place.origin,
      await openKey(place.keyDirectory, "checkpoint"),
    );
  } else await rotate(place, file);
  await show(place, flags);
}

async function rotate(place: Place, file: string): Promise<void> {
  if (!existsSync(file)) throw noKeys(place);
  const old = importPrivateKey(await readFile(file, "utf8"));
  const size = await withStore(place, async (store) => (await store.head()).size);
  const retired = join(place.keyDirectory, `receipts-until-${size}.pem`);
  await rename(file, retired);
  const next = await openKey(place.keyDirectory, "receipts");
  await handOverKey(place.keyDirectory, { old, next }, { firstEntry: size, now: Date.now() });
}

async function show(place: Place, flags: Flags): Promise<void> {
  const history = join(place.keyDirectory, KEY_FILES.history);
  if (!existsSync(history)) throw noKeys(place);
  const key = await openKey(place.keyDirectory, "receipts");
  const vkey = (await readFile(join(place.keyDirectory, KEY_FILES.vkey), "utf8")).trim();
  const receipts = encodeKeyText(key.publicKey);
  if (flags.json === true) {
    printJson({ receipts, log: vkey, history });
    return;
  }
  printLine(`receipt key ${pc.bold(receipts)}`);
  printLine(`log key     ${pc.bold(vkey)}`);
  printLine(`history     ${history}`);
}

function noKeys(place: Place): CountersignError {
  return new CountersignError(
    "ERR_CLI_NO_KEYS",
    `${place.keyDirectory} has no keys yet; \`countersign keys new\` or the first start of the gateway makes them`,
    { directory: place.keyDirectory },
  );
}
