import { appendFileSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import {
  createRevocationList,
  describeCapability,
  formatRevocation,
  parseRevocations,
} from "@countersign/capability";
import { CountersignError } from "@countersign/core";
import type { Command } from "commander";
import pc from "picocolors";
import { isThere } from "../../files/is-there.js";
import { giveToFolderOwner, makeFolder } from "../../files/owner.js";
import { printJson, printLine } from "../../output/print.js";
import { CONFIG_FILE, readConfiguration } from "../configuration.js";
import "../errors.js";
import { nowInSeconds } from "./inputs.js";

const EXAMPLE = `
Ends a token and everything narrowed from it. It is written to the file that the gateway's configuration names
(capabilities.revocations), unless --file names another. Revoking through a running gateway's control API takes effect at once.

Example:
  $ countersign capability revoke cap_x2Jd0Yw8
  $ countersign capability revoke cap_x2Jd0Yw8 --config /etc/countersign/countersign.yaml
`;

type Flags = { config: string; file?: string; json?: boolean };

/** Adds `countersign capability revoke`. */
export function registerRevoke(group: Command): void {
  group
    .command("revoke")
    .description("write tokens to the revocation file")
    .argument("<tokens...>", "ids, or the tokens themselves")
    .option("-c, --config <file>", "configuration that names the revocation file", CONFIG_FILE)
    .option("-f, --file <file>", "revocation file, instead of the configuration's")
    .option("--json", "for machines")
    .addHelpText("after", EXAMPLE)
    .action(revoke);
}

function revoke(tokens: readonly string[], flags: Flags): void {
  const ids = tokens.map((token) => (isToken(token) ? describeCapability(token).id : token));
  const file = flags.file ?? configuredFile(flags.config);
  const isNew = !isThere(file);
  const before = isNew ? "" : readFileSync(file, "utf8");
  const list = createRevocationList(parseRevocations(before));
  const revokedAt = nowInSeconds();
  const revoked = [...new Set(ids)].filter((id) => !list.isRevoked(id));
  const lines = revoked.map((id) => formatRevocation({ capability_id: id, revoked_at: revokedAt }));
  const separator = before === "" || before.endsWith("\n") ? "" : "\n";
  if (lines.length > 0) {
    // A gateway that has not started yet has made no folder either.
    if (flags.file === undefined) makeFolder(dirname(file));
    appendFileSync(file, separator + lines.join(""), { mode: 0o600 });
    if (isNew) giveToFolderOwner(file);
  }
  if (flags.json === true) {
    printJson({ file, revoked, already: ids.filter((id) => list.isRevoked(id)) });
    return;
  }
  for (const id of new Set(ids)) {
    printLine(
      list.isRevoked(id) ? `${pc.dim("already revoked")}  ${id}` : `${pc.green("revoked")}  ${id}`,
    );
  }
  printLine(`${file} holds ${list.list().length + revoked.length} revocations`);
}

/** Where the gateway looks: a revocation written elsewhere would be reported and never count. */
function configuredFile(config: string): string {
  const configuration = readConfiguration(config);
  if (configuration?.revocationFile !== undefined) return configuration.revocationFile;
  const why =
    configuration === undefined
      ? `${config} is not there: name the gateway's configuration with --config`
      : `${config} names no file of revocations: add capabilities.revocations to it and start the gateway again`;
  throw new CountersignError(
    "ERR_CLI_NO_REVOCATIONS",
    `nothing was revoked; ${why}, or name the file itself with --file`,
    { config },
  );
}

// Ids have dots too, but none is as long as the shortest token.
function isToken(text: string): boolean {
  return text.startsWith("{") || (text.length > 200 && text.split(".").length >= 3);
}
