import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CountersignError, parseJson } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { verifyEntry, verifyProof, verifyReceipt } from "@countersign/receipts/verify";
import type { Verification } from "@countersign/receipts/verify";
import { verifyExportDirectory } from "@countersign/receipts/verify-node";
import type { Command } from "commander";
import { EXIT } from "../../output/failure.js";
import { createProgress } from "../../output/progress.js";
import { printJson } from "../../output/print.js";
import "../errors.js";
import { exportStore } from "./export.js";
import { addPlaceFlags, findPlace, withStore } from "./place.js";
import type { PlaceFlags } from "./place.js";
import { printVerification } from "./verification.js";

type Flags = PlaceFlags & {
  key?: string[];
  logKey?: string[];
  event?: string;
  proof?: string;
  json?: boolean;
};

const EXAMPLE = `
Takes an export directory, a file with one receipt or entry, or, without an argument, the live store.
Trust is a list you bring: --key for receipts, --log-key for the log. Without one, validity is told and trust is not.

Exit code: 0 valid, 1 not valid, 2 could not be checked.

Example:
  $ countersign receipts verify audit-2026-11 --log-key "$VKEY" --key ed25519:4f8d…
  $ countersign receipts verify receipt.json --event event.json
  $ countersign receipts verify entry.json --proof 1024.tlog-proof
`;

/** Adds `countersign receipts verify`. */
export function registerVerify(group: Command): void {
  const command = group
    .command("verify")
    .description("check receipts, proofs or a whole log, trusting nobody but whom you name")
    .argument("[what]", "export directory or file; the live store when left out");
  addPlaceFlags(command)
    .option("--key <key...>", "receipt keys you trust, ed25519:HEX")
    .option("--log-key <vkey...>", "log keys you trust")
    .option("--event <file>", "your own copy of the event, to compare the payload hash")
    .option("--proof <file>", "a .tlog-proof for the entry in the file")
    .option("--json", "for machines")
    .addHelpText("after", EXAMPLE)
    .action(verify);
}

async function verify(what: string | undefined, flags: Flags): Promise<void> {
  const result = await check(what, flags);
  if (flags.json === true) printJson(result);
  else printVerification(result);
  process.exitCode = result.valid && result.signerTrusted !== false ? EXIT.ok : EXIT.negative;
}

async function check(what: string | undefined, flags: Flags): Promise<Verification> {
  const trust = {
    ...(flags.key === undefined ? {} : { trustedKeys: flags.key }),
    ...(flags.logKey === undefined ? {} : { trustedLogs: flags.logKey }),
  };
  if (what === undefined) return checkStore(flags, trust);
  if ((await statOf(what)).isDirectory()) return checkDirectory(what, trust);
  const text = await readFile(what, "utf8");
  if (flags.proof !== undefined) {
    const proof = await readFile(flags.proof, "utf8");
    return verifyProof(proof, new TextEncoder().encode(text.trimEnd()), trust);
  }
  const event = flags.event === undefined ? undefined : parseJson(await readFile(flags.event));
  const options = { ...trust, ...(event === undefined ? {} : { event }) };
  return isEntry(text)
    ? verifyEntry(new TextEncoder().encode(text.trimEnd()), options)
    : verifyReceipt(text, options);
}

type Trust = { trustedKeys?: string[]; trustedLogs?: string[] };

async function checkDirectory(directory: string, trust: Trust): Promise<Verification> {
  let progress: ReturnType<typeof createProgress> | undefined;
  const result = await verifyExportDirectory(directory, {
    ...trust,
    onProgress: (done, total) => {
      progress ??= createProgress("verifying", total);
      progress.update(done);
    },
  });
  progress?.finish();
  return result;
}

/** A live store is checked as an auditor would: exported first, then verified from the files alone. */
async function checkStore(flags: Flags, trust: Trust): Promise<Verification> {
  const place = findPlace(flags);
  const folder = await mkdtemp(join(tmpdir(), "countersign-verify-"));
  try {
    const directory = join(folder, "export");
    await withStore(place, (store) => exportStore(store, place, directory));
    return await checkDirectory(directory, trust);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function statOf(path: string): Promise<Awaited<ReturnType<typeof stat>>> {
  try {
    return await stat(path);
  } catch {
    throw new CountersignError("ERR_CLI_NO_FILE", `${path} is not there`, { file: path });
  }
}

function isEntry(text: string): boolean {
  let value: JsonValue;
  try {
    value = parseJson(text);
  } catch {
    return false;
  }
  return typeof value === "object" && value !== null && !Array.isArray(value) && "receipt" in value;
}
