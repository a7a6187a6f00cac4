import pc from "picocolors";
import { COMMAND } from "../output/command-name.js";
import { pageReference } from "../output/pages.js";
import { printLine } from "../output/print.js";
import { VERSION } from "../output/version.js";

const STEPS = [
  ["demo", "watch a misbehaving agent behind the gateway, in a browser"],
  ["init", "write a configuration and a policy for your agent"],
  ["serve", "start the gateway in front of your agent"],
] as const;

/** Prints what the product is and the first three things to do: the output of the command without arguments. */
export function printWelcome(): void {
  printLine(
    `${pc.bold("Countersign")} ${VERSION}, a gateway between AI agents and the people who use them.`,
  );
  printLine(
    "It checks every AG-UI event against your policy, signs a receipt and forwards the event.",
  );
  printLine("\nStart here:");
  for (const [index, [verb, purpose]] of STEPS.entries()) {
    printLine(
      `  ${index + 1}. ${pc.bold(`${COMMAND} ${verb}`.padEnd(COMMAND.length + 7))} ${purpose}`,
    );
  }
  printLine(`\nAll commands:  ${COMMAND} help`);
  printLine(`Documentation: ${pageReference("README.md")}`);
}
