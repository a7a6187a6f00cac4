import { formatTarget } from "@countersign/policy";
import type { ReplayChange } from "@countersign/policy/cases";
import pc from "picocolors";
import { COMMAND } from "../../output/command-name.js";
import { printLine } from "../../output/print.js";
import { formatTable } from "../../output/table.js";
import { printableText } from "@countersign/core";

/** Prints samples of what would be decided otherwise, with the rule and, where a capture shows it, the path of the state. */
export function printSamples(samples: readonly ReplayChange[]): void {
  if (samples.length === 0) return;
  printLine("");
  const rows = samples.map(({ position, change, event, before, after, rule, path }) => [
    String(position),
    change,
    `${event.eventType} ${event.classification} ${formatTarget(event.target)}`,
    path === undefined ? (rule ?? "-") : `${rule ?? ""} at ${printableText(path)}`,
    `${before} → ${after}`,
  ]);
  printLine(formatTable(["at", "change", "event", "rule", "decision"], rows));
}

/** Prints that receipts could be judged in part only, and where the rest can be seen. */
export function printPartial(partial: number): void {
  if (partial === 0) return;
  const count = partial.toLocaleString("en");
  printLine(
    pc.dim(`${count} have no payload: their paths, tools, texts, conditions and history were`),
  );
  printLine(
    pc.dim("not evaluated, so the policy may block more. Rules that observing events matched:"),
  );
  printLine(pc.dim(`${COMMAND} receipts stats --would-block --by rule`));
}
