import type { SignerTrust, Verification } from "@countersign/receipts/verify";
import pc from "picocolors";
import { printLine } from "../../output/print.js";
import { printableText } from "@countersign/core";

const MARKS = { held: pc.green("held   "), failed: pc.red("FAILED "), skipped: pc.dim("skipped") };
const FLAGS = { receipt: "--key", log: "--log-key" } as const;

/** Prints the checklist, then trust apart from validity, then the verdict in one line. */
export function printVerification(result: Verification): void {
  for (const { status, title, detail } of result.checks) {
    printLine(
      `${MARKS[status]} ${title}${detail === "" ? "" : pc.dim(`  ${printableText(detail)}`)}`,
    );
  }
  for (const signer of result.signers) printLine(signerLine(signer));
  printLine(verdict(result));
}

function signerLine({ role, key, trusted }: SignerTrust): string {
  const mark = trusted === null ? "signer " : trusted ? pc.green("trusted") : pc.red("UNKNOWN");
  const answer =
    trusted === null ? `no ${FLAGS[role]} given` : trusted ? "on your list" : "NOT on your list";
  return `${mark} ${role} key ${printableText(key)}${pc.dim(`  ${answer}`)}`;
}

function verdict({ valid, signers, firstBrokenIndex }: Verification): string {
  if (!valid) {
    const place = firstBrokenIndex === undefined ? "" : `; first broken entry: ${firstBrokenIndex}`;
    return pc.red(pc.bold(`not valid${place}`));
  }
  if (signers.some(({ trusted }) => trusted === false)) {
    return pc.red(pc.bold("valid, but signed by a key that you did not name"));
  }
  const unasked = [
    ...new Set(signers.filter(({ trusted }) => trusted === null).map(({ role }) => FLAGS[role])),
  ];
  if (unasked.length === 0) return pc.green(pc.bold("valid, and signed by keys you trust"));
  return `${pc.green(pc.bold("valid"))}; the signer was not checked. Fix: add ${unasked.join(" and ")}`;
}
