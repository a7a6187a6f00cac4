import { parseUrl } from "@countersign/core";
import type { Verification } from "@countersign/receipts/verify";
import { InvalidArgumentError } from "commander";
import type { Command } from "commander";
import { EXIT } from "../../output/failure.js";
import { printJson } from "../../output/print.js";
import { checkExport, checkFile, checkStore, kindOf } from "./check.js";
import { readInput } from "./input.js";
import { addLocationFlags, findLocation } from "./location.js";
import type { LocationFlags } from "./location.js";
import { collectCount, collectKey, collectLogKey, collectWitness } from "./trust.js";
import { extendTrust, readTrust } from "./trust.js";
import type { AttestingFlags } from "./trust.js";
import { printVerification } from "./verification.js";

type Flags = LocationFlags &
  AttestingFlags & {
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
Name the witnesses that you trust with --witness to demand their cosignatures. --witness-url detects a log that was rolled
back together with its checkpoints: the witness remembers the newest one. A file needs --proof for it.

Exit code: 0 valid, 1 not valid or signed with a key that you did not name, 2 could not be verified.

Examples:
  $ countersign receipts verify
  $ countersign receipts verify audit-2026-11 --log-key "$VKEY" --key ed25519:4f8d…
  $ countersign receipts verify audit-2026-12 --older audit-2026-11/checkpoint
  $ countersign receipts verify audit-2026-11/receipts.jsonl --key ed25519:4f8d…
  $ countersign receipts verify receipt.json --event event.json
  $ countersign receipts verify --witness "$W1" --witness "$W2" --witness-threshold 1
  $ countersign receipts verify audit-2026-11 --witness "$W1" --witness-url https://witness.example/ --tsa-ca tsa.pem
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
    .option(
      "--witness <vkey>",
      "trusted witness, as countersign witness show prints it (repeatable)",
      collectWitness,
    )
    .option("--witness-file <file>", "trusted witnesses, one vkey per line")
    .option(
      "--witness-threshold <n>",
      "number of them that must have cosigned (default: all)",
      collectCount,
    )
    .option("--witness-max-age <seconds>", "older cosignatures do not count", collectCount)
    .option(
      "--witness-url <url>",
      "ask this witness for its newest checkpoint; the log must contain it (repeatable)",
      collectUrl,
    )
    .option("--tsa-ca <file>", "PEM certificates of the timestamp authority; demands a timestamp")
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLE)
    .action(verify);
}

function collectUrl(text: string, before: string[] | undefined): string[] {
  const url = parseUrl(text);
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new InvalidArgumentError("Write an address that starts with http:// or https://.");
  }
  return [...(before ?? []), text];
}

async function verify(what: string | undefined, flags: Flags): Promise<void> {
  const result = await check(what, flags);
  if (flags.json === true) printJson(result);
  else printVerification(result);
  process.exitCode = result.valid && result.signerTrusted !== false ? EXIT.ok : EXIT.negative;
}

async function check(what: string | undefined, flags: Flags): Promise<Verification> {
  const trust = await readTrust(flags);
  const older = flags.older === undefined ? undefined : await readInput(flags.older);
  const options = { ...(older !== undefined && { older }), witnessUrls: flags.witnessUrl ?? [] };
  if (flags.against !== undefined && what === undefined) {
    throw new TypeError("--against goes with a statement about a run. Fix: name its file");
  }
  if (what === undefined) return checkStore(findLocation(flags), trust, options);
  switch (await kindOf(what)) {
    case "store":
      return checkStore(findLocation({ ...flags, store: `sqlite:${what}` }), trust, options);
    case "directory":
      return checkExport(what, trust, options);
    case "file":
      if (trust.witnesses !== undefined && flags.proof === undefined) {
        throw new TypeError("--witness needs a checkpoint. Fix: add --proof, or name an export");
      }
      if (trust.verifyTimestamp !== undefined || flags.witnessUrl !== undefined) {
        throw new TypeError("--witness-url and --tsa-ca need a store or an export. Fix: name one");
      }
      return checkFile(what, flags, await extendTrust(trust, flags.keyHistory));
  }
}
