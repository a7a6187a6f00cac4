import type { Effect, PolicyDiff } from "@countersign/policy/compare";
import type { ReplayReport } from "@countersign/policy/cases";
import pc from "picocolors";
import { printLine } from "../../output/print.js";
import { printableText } from "@countersign/core";
import { printPartial, printSamples } from "./replay-report.js";

/** A policy as the first lines name it. */
export type PolicyVersion = {
  readonly source: string;
  readonly hash: string;
  readonly mode: string;
};

const PAINT: Readonly<Record<Effect, (text: string) => string>> = {
  looser: pc.yellow,
  stricter: pc.cyan,
  both: pc.red,
  same: pc.dim,
};

const MEANS: Readonly<Record<Effect, string>> = {
  looser: "the second policy allows more, and blocks nothing new",
  stricter: "the second policy blocks more, and allows nothing new",
  both: "the second policy allows some events and blocks others, or the effect is unknown",
  same: "both policies decide alike",
};

/** Longest word for an effect, so that settings stand below each other. */
const WIDTH = "stricter".length;

/** Prints what lies between two policies. */
export function printDiff(
  before: PolicyVersion,
  after: PolicyVersion,
  { verdict, blocks }: PolicyDiff,
  recorded: (ReplayReport & { readonly unused: number }) | undefined,
): void {
  printLine(`${pc.dim("before")} ${describe(before)}`);
  printLine(`${pc.dim("after ")} ${describe(after)}`);
  for (const { block, verdict: ofBlock, changes } of blocks) {
    printLine("");
    printLine(`${painted(ofBlock)} ${pc.bold(printableText(block))}`);
    for (const { setting, kind, effect, says } of changes) {
      const what = `${printableText(setting)} ${pc.dim(kind)}: ${printableText(says)}`;
      printLine(`  ${painted(effect)} ${what}`);
    }
  }
  printLine("");
  printLine(`${painted(verdict)} as a whole: ${MEANS[verdict]}`);
  if (recorded !== undefined) printRecorded(recorded);
}

function printRecorded(report: ReplayReport & { readonly unused: number }): void {
  const changed = report.newlyBlocked + report.newlyAllowed;
  const { judged } = report;
  printLine(
    `of ${judged.toLocaleString("en")} recorded decisions ${changed.toLocaleString("en")} would change: ${report.newlyBlocked} newly blocked, ${report.newlyAllowed} newly allowed${report.otherReason === 0 ? "" : `; ${report.otherReason} would be blocked for another reason`}`,
  );
  if (report.unused > 0) printLine(pc.dim(`${report.unused} lines were skipped`));
  printPartial(report.partial);
  printSamples(report.samples);
}

function describe({ source, hash, mode }: PolicyVersion): string {
  return `${printableText(source)}, ${mode}, hash ${hash.slice(0, 16)}…`;
}

function painted(effect: Effect): string {
  return PAINT[effect](effect.padEnd(WIDTH));
}
