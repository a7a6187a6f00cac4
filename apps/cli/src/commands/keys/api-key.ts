import { CountersignError } from "@countersign/core";
import { createApiKey } from "@countersign/gateway";
import pc from "picocolors";
import { printJson, printLine } from "../../output/print.js";
import "../errors.js";

const NAME = /^[\w.@-]{1,128}$/;

/** Makes an API key and prints it, once, with the hash that the gateway keeps. */
export function printApiKey(name: string, json: boolean): void {
  if (!NAME.test(name)) {
    throw new CountersignError(
      "ERR_CLI_KEY_NAME",
      "the name is not valid. Fix: use 1 to 128 letters, digits and any of . @ _ -",
      {},
    );
  }
  const { key, hash } = createApiKey();
  const line = `${name} ${hash}`;
  if (json) {
    printJson({ name, key, hash, line });
    return;
  }
  printLine(`key   ${pc.bold(key)}`);
  printLine(`hash  ${hash}`);
  printLine("");
  printLine(
    `${pc.yellow("The command shows the key only once.")} Give it to ${name}, and put the hash into countersign.yaml:`,
  );
  printLine("");
  printLine("  access:");
  printLine("    mode: keys");
  printLine("    keys:");
  printLine("      entries:");
  printLine(`        ${name}: "${hash}"`);
}
