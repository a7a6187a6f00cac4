import { narrowCapability } from "@countersign/capability/issue";
import type { Command } from "commander";
import {
  collect,
  nowInSeconds,
  parseCount,
  parseDuration,
  readKeyOption,
  readPrivateKey,
  readTokenArgument,
} from "./inputs.js";
import { printIssued } from "./report.js";

const EXAMPLE = `
The command works offline. Claims without an option stay unchanged, and no claim can get wider.
The last line of the output is the token, for pipes.

Examples:
  $ countersign capability issue --key issuer.pem --agent support --principal key:alice \\
      --scope 'ui:*:*' --holder holder.pub | tail -1 > token
  $ countersign capability narrow - --key holder.pem --scope ui:display:chat-window --expires 5m < token
`;

type Flags = {
  key?: string;
  scope?: string[];
  session?: string;
  principal?: string;
  expires?: number;
  maxEvents?: number;
  holder?: Uint8Array;
  id?: string;
  json?: boolean;
};

/** Adds `countersign capability narrow`. */
export function registerNarrow(group: Command): void {
  group
    .command("narrow")
    .description("derive a token with fewer rights from a token that you hold")
    .argument("[token]", "token; - reads standard input", "-")
    .option("-k, --key <file>", "holder's private key, PEM (or COUNTERSIGN_HOLDER_KEY)")
    .option("--scope <scope>", "scope that stays allowed (repeatable)", collect)
    .option("-s, --session <id>", "session it is valid for")
    .option("-p, --principal <name>", "principal it is valid for")
    .option("--expires <time>", "time until it expires: 90s, 15m, 8h", parseDuration)
    .option("--max-events <count>", "maximum number of events that it allows", parseCount)
    .option("--holder <key>", "public key that must narrow it further before use", readKeyOption)
    .option("--id <id>", "last part of its id (default: random)")
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLE)
    .action(narrow);
}

async function narrow(argument: string, flags: Flags): Promise<void> {
  const now = nowInSeconds();
  const key = readPrivateKey(flags.key, "COUNTERSIGN_HOLDER_KEY");
  const issued = await narrowCapability(String(readTokenArgument(argument)), key, {
    ...(flags.scope === undefined ? {} : { scopes: flags.scope }),
    ...(flags.session === undefined ? {} : { sessionId: flags.session }),
    ...(flags.principal === undefined ? {} : { principal: flags.principal }),
    ...(flags.expires === undefined ? {} : { expiresAt: now + flags.expires }),
    ...(flags.maxEvents === undefined ? {} : { maxEvents: flags.maxEvents }),
    ...(flags.holder === undefined ? {} : { holder: flags.holder }),
    ...(flags.id === undefined ? {} : { id: flags.id }),
  });
  printIssued(issued, flags.json === true, now);
}
