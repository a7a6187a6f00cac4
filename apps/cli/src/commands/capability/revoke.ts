import { appendFileSync, existsSync, readFileSync } from "node:fs";
import {
  createRevocationList,
  describeCapability,
  formatRevocation,
  parseRevocations,
} from "@countersign/capability";
import type { Command } from "commander";
import pc from "picocolors";
import { printJson, printLine } from "../../output/print.js";
import { nowInSeconds } from "./inputs.js";

const EXAMPLE = `
Ends a token and everything narrowed from it. A gateway reads the file that its configuration names
(capabilities.revocations); revoking through a running gateway's control API takes effect at once.

Example:
  $ countersign capability revoke cap_x2Jd0Yw8 --file revocations.jsonl
`;

type Flags = { file: string; json?: boolean };

/** Adds `countersign capability revoke`. */
export function registerRevoke(group: Command): void {
  group
    .command("revoke")
    .description("write tokens to the revocation file")
    .argument("<tokens...>", "ids, or the tokens themselves")
    .option("-f, --file <file>", "revocation file", "revocations.jsonl")
    .option("--json", "for machines")
    .addHelpText("after", EXAMPLE)
    .action(revoke);
}

function revoke(tokens: readonly string[], flags: Flags): void {
  const ids = tokens.map((token) => (isToken(token) ? describeCapability(token).id : token));
  const before = existsSync(flags.file) ? readFileSync(flags.file, "utf8") : "";
  const list = createRevocationList(parseRevocations(before));
  const revokedAt = nowInSeconds();
  const revoked = [...new Set(ids)].filter((id) => !list.isRevoked(id));
  const lines = revoked.map((id) => formatRevocation({ capability_id: id, revoked_at: revokedAt }));
  const separator = before === "" || before.endsWith("\n") ? "" : "\n";
  if (lines.length > 0) appendFileSync(flags.file, separator + lines.join(""), { mode: 0o600 });
  if (flags.json === true) {
    printJson({ file: flags.file, revoked, already: ids.filter((id) => list.isRevoked(id)) });
    return;
  }
  for (const id of new Set(ids)) {
    printLine(
      list.isRevoked(id) ? `${pc.dim("already revoked")}  ${id}` : `${pc.green("revoked")}  ${id}`,
    );
  }
  printLine(`${flags.file} holds ${list.list().length + revoked.length} revocations`);
}

// Ids have dots too, but none is as long as the shortest token.
function isToken(text: string): boolean {
  return text.startsWith("{") || (text.length > 200 && text.split(".").length >= 3);
}
