import type { Verification } from "@countersign/receipts/verify";
import type { Command } from "commander";
import { EXIT } from "../../output/failure.js";
import { printJson } from "../../output/print.js";
import { checkExport, checkFile, checkStore, kindOf } from "./check.js";
import { readInput } from "./input.js";
import { addLocationFlags, findLocation } from "./location.js";
import type { LocationFlags } from "./location.js";
import { collectKey, collectLogKey, extendTrust, readTrust } from "./trust.js";
import { printVerification } from "./verification.js";

type Flags = LocationFlags & {
  key?: string[];
  logKey?: string[];
  keyHistory?: string;
  event?: string;
  proof?: string;
  older?: string;
  json?: boolean;
};

const EXAMPLE = `
Takes an export directory, a file with one receipt or entry, receipts.jsonl alone, or, without an argument, the live store.
A live store must go on from the checkpoint beside the gateway's keys, an export from one you kept (--older): a log that lost its end does not.
A live store with entries that lacks its checkpoint, key history, ledger or the checkpoint beside the keys is not valid.
Trust is a list you bring: --key for receipts, --log-key for the log. Without one, validity is told and trust is not.

Exit code: 0 valid, 1 not valid or signed by somebody you did not name, 2 could not be checked.

Example:
  $ countersign receipts verify
  $ countersign receipts verify audit-2026-11 --log-key "$VKEY" --key ed25519:4f8d…
  $ countersign receipts verify audit-2026-12 --older audit-2026-11/checkpoint
  $ countersign receipts verify audit-2026-11/receipts.jsonl --key ed25519:4f8d…
  $ countersign receipts verify receipt.json --event event.json
  $ countersign receipts verify entry.json --proof 1024.tlog-proof --log-key "$VKEY"
`;

/** Adds `countersign receipts verify`. */
export function registerVerify(group: Command): void {
  const command = group
    .command("verify")
    .description("check receipts, proofs or a whole log, trusting only the keys you name")
    .argument("[what]", "export directory or file; the live store when left out");
  addLocationFlags(command)
    .option("--key <key>", "a receipt key you trust, ed25519:HEX (repeatable)", collectKey)
    .option("--log-key <vkey>", "a log key you trust (repeatable)", collectLogKey)
    .option(
      "--key-history <file>",
      "keys.jsonl: trust what your keys handed over to (single files)",
    )
    .option("--event <file>", "your own copy of the event, to compare the payload hash")
    .option("--proof <file>", "a .tlog-proof for the entry in the file")
    .option("--older <file>", "a checkpoint you kept: the log must go on from it")
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
  const trust = readTrust(flags);
  const older = flags.older === undefined ? undefined : await readInput(flags.older);
  if (what === undefined) return checkStore(findLocation(flags), trust, older);
  switch (await kindOf(what)) {
    case "store":
      return checkStore(findLocation({ ...flags, store: `sqlite:${what}` }), trust, older);
    case "directory":
      return checkExport(what, trust, older);
    case "file":
      return checkFile(what, flags, await extendTrust(trust, flags.keyHistory));
  }
}
