import { createCapabilityIssuer } from "@countersign/capability/issue";
import { CountersignError } from "@countersign/core";
import type { Command } from "commander";
import { Option } from "commander";
import {
  collect,
  nowInSeconds,
  parseCount,
  parseDuration,
  readKeyOption,
  readPrivateKey,
} from "./inputs.js";
import { printIssued } from "./report.js";

const EXAMPLE = `
A scope is ui:<classification>:<component_type>[:<component_id>]; * matches every value of its part.
A token with a principal is valid for that principal only, even if another user owns the session. GET /v1/sessions/ID and
the response of POST /v1/capabilities name the owner of a session.
The last line of the output is the token, for pipes.

Examples:
  $ countersign capability issue --key issuer.pem --agent support --session sess_01 \\
      --principal 'jwt:https://login.example.org alice' \\
      --scope ui:submit:modal:confirm-refund --expires 15m --max-events 3
`;

type Flags = {
  key?: string;
  agent: string;
  session?: string;
  principal?: string;
  forUnownedSession?: boolean;
  scope: string[];
  expires: number;
  starts?: number;
  maxEvents?: number;
  holder?: Uint8Array;
  issuer?: string;
  id?: string;
  json?: boolean;
};

/** Adds `countersign capability issue`. */
export function registerIssue(group: Command): void {
  group
    .command("issue")
    .description("sign a token that allows an agent what the policy restricts")
    .option("-k, --key <file>", "issuer's private key, PEM (or COUNTERSIGN_ISSUER_KEY)")
    .requiredOption("-a, --agent <name>", "agent that may use it")
    .option("-s, --session <id>", "session it is valid for (default: every session)")
    .option("-p, --principal <name>", "principal it is valid for: jwt:ISSUER SUBJECT or key:NAME")
    .option(
      "--for-unowned-session",
      "allow a token without --principal: valid for any user of the session",
    )
    .requiredOption("--scope <scope>", "scope that it allows (repeatable)", collect)
    .addOption(
      new Option("--expires <time>", "time until it expires: 90s, 15m, 8h, 7d")
        .argParser(parseDuration)
        .default(3600, "1h"),
    )
    .option("--starts <time>", "time until it becomes valid", parseDuration)
    .option("--max-events <count>", "maximum number of events that it allows", parseCount)
    .option("--holder <key>", "public key that must narrow it before use", readKeyOption)
    .option("--issuer <name>", "name of the issuer (default: ed25519:<hex> of the key)")
    .option("--id <id>", "id of the token (default: random)")
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLE)
    .action(issue);
}

async function issue(flags: Flags): Promise<void> {
  if (flags.principal === undefined && flags.forUnownedSession !== true) {
    throw new CountersignError(
      "ERR_CAPABILITY_NO_PRINCIPAL",
      "The token names no principal: the first user of the session could use it. Fix: name its user with --principal, or add --for-unowned-session.",
      { option: "--principal" },
    );
  }
  const now = nowInSeconds();
  const notBefore = now + (flags.starts ?? 0);
  const issuer = createCapabilityIssuer({
    key: readPrivateKey(flags.key, "COUNTERSIGN_ISSUER_KEY"),
    ...(flags.issuer === undefined ? {} : { issuer: flags.issuer }),
  });
  const issued = await issuer.issue({
    agent: flags.agent,
    scopes: flags.scope,
    notBefore,
    expiresAt: notBefore + flags.expires,
    ...(flags.session === undefined ? {} : { sessionId: flags.session }),
    ...(flags.principal === undefined ? {} : { principal: flags.principal }),
    ...(flags.maxEvents === undefined ? {} : { maxEvents: flags.maxEvents }),
    ...(flags.holder === undefined ? {} : { holder: flags.holder }),
    ...(flags.id === undefined ? {} : { id: flags.id }),
  });
  printIssued(issued, flags.json === true, now);
}
