import { appendFileSync } from "node:fs";
import { dirname } from "node:path";
import {
  createRevocationList,
  describeCapability,
  formatRevocation,
  parseRevocations,
} from "@countersign/capability";
import type { Revocation } from "@countersign/capability";
import { CountersignError } from "@countersign/core";
import { openSharedRevocations } from "@countersign/gateway";
import type { Command } from "commander";
import pc from "picocolors";
import { readText } from "../../files/read-file.js";
import { pathExists } from "../../files/path-exists.js";
import { giveToFolderOwner, makeFolder } from "../../files/owner.js";
import { printJson, printLine } from "../../output/print.js";
import { CONFIG_FILE, readConfiguration } from "../configuration.js";
import "../errors.js";
import { nowInSeconds } from "./inputs.js";

const EXAMPLE = `
The command appends to the file that capabilities.revocations names in the gateway's configuration. If receipts.store is
PostgreSQL, it also writes to that database, and every gateway on the database applies it within a second.

Examples:
  $ countersign capability revoke cap_x2Jd0Yw8
  $ countersign capability revoke cap_x2Jd0Yw8 --config /etc/countersign/countersign.yaml
`;

type Flags = { config: string; file?: string; json?: boolean };

/** Adds `countersign capability revoke`. */
export function registerRevoke(group: Command): void {
  group
    .command("revoke")
    .description("revoke tokens and all tokens that were narrowed from them")
    .argument("<tokens...>", "ids or tokens")
    .option("-c, --config <file>", "configuration with the place of revocations", CONFIG_FILE)
    .option(
      "-f, --file <file>",
      "revocation file to append to, instead of the places in the configuration",
    )
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLE)
    .action(revoke);
}

async function revoke(tokens: readonly string[], flags: Flags): Promise<void> {
  const named = tokens.map((token) => (isToken(token) ? describeCapability(token).id : token));
  const ids = [...new Set(named)];
  const places = placesOf(flags);
  const revokedAt = nowInSeconds();
  const revocations = ids.map((id) => ({ capability_id: id, revoked_at: revokedAt }));
  // Before anything is written: what cannot be read again is refused whole.
  for (const revocation of revocations) formatRevocation(revocation);
  const fresh = new Set<string>();
  const says: string[] = [];
  if (places.database !== undefined) {
    const store = await openSharedRevocations(places.database);
    try {
      for (const id of await store.revoke(revocations)) fresh.add(id);
    } finally {
      await store.close();
    }
    says.push("every gateway on the database of receipts.store applies it within a second");
  }
  if (places.file !== undefined) {
    const { added, count } = appendTo(places.file, revocations, flags.file === undefined);
    for (const id of added) fresh.add(id);
    says.push(`${places.file} holds ${count} revocations`);
  }
  const already = ids.filter((id) => !fresh.has(id));
  if (flags.json === true) {
    const { file, database } = places;
    printJson({
      ...(file === undefined ? {} : { file }),
      ...(database === undefined ? {} : { database: database.name }),
      revoked: ids.filter((id) => fresh.has(id)),
      already,
    });
    return;
  }
  for (const id of ids) {
    printLine(
      fresh.has(id) ? `${pc.green("revoked")}  ${id}` : `${pc.dim("already revoked")}  ${id}`,
    );
  }
  for (const line of says) printLine(line);
}

/** Adds what the file does not have yet. */
function appendTo(
  file: string,
  revocations: readonly Revocation[],
  makesFolder: boolean,
): { added: string[]; count: number } {
  const isNew = !pathExists(file);
  const before = isNew ? "" : readText(file);
  const list = createRevocationList(parseRevocations(before));
  const missing = revocations.filter(({ capability_id: id }) => !list.isRevoked(id));
  const separator = before === "" || before.endsWith("\n") ? "" : "\n";
  if (missing.length > 0) {
    // A gateway that has not started yet has made no folder either.
    if (makesFolder) makeFolder(dirname(file));
    appendFileSync(file, separator + missing.map(formatRevocation).join(""), { mode: 0o600 });
    if (isNew) giveToFolderOwner(file);
  }
  return {
    added: missing.map(({ capability_id: id }) => id),
    count: list.list().length + missing.length,
  };
}

type Places = {
  readonly file?: string;
  readonly database?: { readonly url: string; readonly name: string };
};

/** The file that the gateway reads: it would never see a revocation written elsewhere. */
function placesOf({ file: named, config }: Flags): Places {
  if (named !== undefined) return { file: named };
  const configuration = readConfiguration(config);
  const file = configuration?.revocationFile;
  const { store = EMBEDDED, origin: name = "" } = configuration?.receipts ?? {};
  const isShared = !store.startsWith(EMBEDDED);
  if (file !== undefined || isShared) {
    return {
      ...(file === undefined ? {} : { file }),
      ...(isShared ? { database: { url: store, name } } : {}),
    };
  }
  const why =
    configuration === undefined
      ? `${config} does not exist. Fix: name the gateway's configuration with --config`
      : `${config} names no revocation file. Fix: add capabilities.revocations to it and restart the gateway`;
  throw new CountersignError(
    "ERR_CLI_NO_REVOCATIONS",
    `no token was revoked: ${why}, or name a revocation file with --file`,
    { config },
  );
}

const EMBEDDED = "sqlite:";

// Ids have dots too, but none is as long as the shortest token.
function isToken(text: string): boolean {
  return text.startsWith("{") || (text.length > 200 && text.split(".").length >= 3);
}
