import { join } from "node:path";
import { CountersignError } from "@countersign/core";
import { KEY_FILES } from "@countersign/gateway";
import { parseKeyHistory } from "@countersign/receipts";
import type { KeyRecord } from "@countersign/receipts";
import pc from "picocolors";
import { readText } from "../../files/read-file.js";
import { pathExists } from "../../files/path-exists.js";
import { COMMAND } from "../../output/command-name.js";
import { printJson, printLine } from "../../output/print.js";
import "../errors.js";
import type { Location } from "../receipts/location.js";

/** Prints the public side of a key directory: what auditors compare with. */
export async function printPublicKeys(place: Location, json: boolean): Promise<void> {
  const historyFile = join(place.keyDirectory, KEY_FILES.history);
  const vkeyFile = join(place.keyDirectory, KEY_FILES.vkey);
  if (!pathExists(historyFile) || !pathExists(vkeyFile)) throw noKeys(place);
  const records = parseKeyHistory(readText(historyFile));
  const [first] = records;
  const last = records.at(-1);
  if (first === undefined || last === undefined) throw noKeys(place);
  const log = readText(vkeyFile).trim();
  if (json) {
    const keys = records.map(({ key, created_at, first_entry }) => ({
      key,
      createdAt: new Date(created_at).toISOString(),
      firstEntry: first_entry,
    }));
    printJson({ receipts: last.key, firstReceipts: first.key, log, history: historyFile, keys });
    return;
  }
  printLine(`receipt key  ${pc.bold(last.key)}`);
  if (records.length > 1) printLine(`first key    ${pc.bold(first.key)}`);
  printLine(`log key      ${pc.bold(log)}`);
  if (records.length > 1) printHistory(records);
  printLine(pc.dim(`history      ${historyFile}`));
  printLine("");
  printLine("Send auditors this command, over another channel than the receipts:");
  printLine(`  ${COMMAND} receipts verify DIRECTORY --log-key "${log}" --key ${first.key}`);
}

function printHistory(records: readonly KeyRecord[]): void {
  for (const { number, first_entry, created_at, key } of records) {
    const time = new Date(created_at).toISOString();
    printLine(pc.dim(`  ${number + 1}. from entry ${first_entry}, ${time}, ${key}`));
  }
}

/** There is nothing to show or to rotate. */
export function noKeys(place: Location): CountersignError {
  return new CountersignError(
    "ERR_CLI_NO_KEYS",
    `${place.keyDirectory} has no keys yet. Fix: run countersign keys new, or start the gateway, which creates them`,
    { directory: place.keyDirectory },
  );
}
