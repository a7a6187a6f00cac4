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
  against?: string;
  older?: string;
  json?: boolean;
};

const EXAMPLE = `
Verifies an export directory, a file with one receipt or entry, a file receipts.jsonl, a transparent statement (.scitt), a
statement about a run (in-toto, DSSE), or the store of the gateway.
To detect a log that lost its end, the command compares the store with the checkpoint in the gateway's key directory, and an
export with a checkpoint that you kept (--older). A store with entries must have its checkpoint, key history and ledger.
Name the keys that you trust: --key for receipts, --log-key for the log. Without them the command checks that the log is
consistent, but not who signed it.

Exit code: 0 valid, 1 not valid or signed with a key that you did not name, 2 could not be verified.

Examples:
  $ countersign receipts verify
  $ countersign receipts verify audit-2026-11 --log-key "$VKEY" --key ed25519:4f8d…
  $ countersign receipts verify audit-2026-12 --older audit-2026-11/checkpoint
  $ countersign receipts verify audit-2026-11/receipts.jsonl --key ed25519:4f8d…
  $ countersign receipts verify receipt.json --event event.json
  $ countersign receipts verify entry.json --proof 1024.tlog-proof --log-key "$VKEY"
  $ countersign receipts verify 17.scitt --log-key "$VKEY" --key ed25519:4f8d…
  $ countersign receipts verify run-7.intoto.json --log-key "$VKEY" --against audit-2026-11
`;

/** Adds `countersign receipts verify`. */
export function registerVerify(group: Command): void {
  const command = group
    .command("verify")
    .description("verify receipts, proofs or a whole log with the keys that you trust")
    .argument("[what]", "export directory or file (default: the store of the gateway)");
  addLocationFlags(command)
    .option("--key <key>", "trusted receipt key, ed25519:HEX (repeatable)", collectKey)
    .option("--log-key <vkey>", "trusted log key (repeatable)", collectLogKey)
    .option(
      "--key-history <file>",
      "keys.jsonl: also trust the keys that your keys signed (single files)",
    )
    .option("--event <file>", "your copy of the event, to compare its hash")
    .option("--proof <file>", "proof (.tlog-proof) of the entry in the file")
    .option("--against <directory>", "export that must have the run of a statement")
    .option("--older <file>", "older checkpoint that you kept; the log must contain it")
    .option("--json", "print JSON")
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
  if (flags.against !== undefined && what === undefined) {
    throw new TypeError("--against goes with a statement about a run. Fix: name its file");
  }
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
