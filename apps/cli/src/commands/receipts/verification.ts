import type { Verification } from "@countersign/receipts/verify";
import pc from "picocolors";
import { printLine } from "../../output/print.js";

const MARKS = { held: pc.green("held   "), failed: pc.red("FAILED "), skipped: pc.dim("skipped") };

/** Prints the checklist, then trust apart from validity, then the verdict in one line. */
export function printVerification(result: Verification): void {
  for (const { status, title, detail } of result.checks) {
    printLine(`${MARKS[status]} ${title}${detail === "" ? "" : pc.dim(`  ${detail}`)}`);
  }
  for (const { role, key, trusted } of result.signers) {
    const answer =
      trusted === null ? "no list given" : trusted ? "on your list" : "NOT on your list";
    printLine(`${trusted === false ? pc.red("signer ") : "signer "} ${role} ${key}: ${answer}`);
  }
  if (!result.valid) {
    const place =
      result.firstBrokenIndex === undefined
        ? ""
        : `; first broken entry ${result.firstBrokenIndex}`;
    printLine(pc.red(pc.bold(`not valid${place}`)));
  } else if (result.signerTrusted === false)
    printLine(pc.red("valid, but signed by a key you do not trust"));
  else if (result.signerTrusted === null)
    printLine(pc.green("valid") + pc.dim(" (whose keys these are was not asked)"));
  else printLine(pc.green("valid, and signed by keys you trust"));
}
