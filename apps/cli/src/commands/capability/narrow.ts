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
Works offline. What is not given stays as it is; nothing can be widened. The token is the last line.

Example:
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
    .description("make a weaker token of one you hold")
    .argument("[token]", "the token, - for standard input", "-")
    .option("-k, --key <file>", "holder's private key, PEM (or COUNTERSIGN_HOLDER_KEY)")
    .option("--scope <scope>", "what stays allowed; may be repeated", collect)
    .option("-s, --session <id>", "the one session it is for")
    .option("-p, --principal <name>", "the one principal it is valid for")
    .option("--expires <time>", "how long it lasts from now, like 90s, 15m, 8h", parseDuration)
    .option("--max-events <count>", "how many events it opens", parseCount)
    .option("--holder <key>", "public key that must narrow it further before use", readKeyOption)
    .option("--id <id>", "the last part of its id; random without it")
    .option("--json", "for machines")
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
