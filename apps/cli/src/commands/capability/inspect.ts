import { existsSync } from "node:fs";
import type { CapabilityFacts, TrustedIssuer } from "@countersign/capability";
import {
  createCapabilityVerifier,
  createRevocationList,
  describeCapability,
  parseRevocations,
} from "@countersign/capability";
import type { JsonValue } from "@countersign/core";
import type { Command } from "commander";
import { readText } from "../../files/read-file.js";
import { EXIT } from "../../output/failure.js";
import { printJson, printLine } from "../../output/print.js";
import { collect, nowInSeconds, readKeyOption, readTokenArgument } from "./inputs.js";
import { printDescription, printVerdict } from "./report.js";

const EXAMPLE = `
Without --issuer the command verifies nothing: it shows the claims of the token.

Exit code: 0 shown, or valid; 1 not valid; 2 the token cannot be read.

Examples:
  $ countersign capability inspect "$TOKEN"
  $ countersign capability inspect - --issuer issuer.pub --session sess_01 < token.txt
`;

type Flags = {
  issuer?: string[];
  issuerName?: string;
  agent?: string;
  session?: string;
  principal?: string;
  revocations?: string;
  json?: boolean;
};

/** Adds `countersign capability inspect`. */
export function registerInspect(group: Command): void {
  group
    .command("inspect")
    .description("show the claims of a token, and verify it with --issuer")
    .argument("[token]", "token; - reads standard input", "-")
    .option(
      "-i, --issuer <key>",
      "trusted key of an issuer: ed25519:<hex>, PEM file or JWK file (repeatable)",
      collect,
    )
    .option("--issuer-name <name>", "name of the issuer that has these keys (default: the key)")
    .option("-a, --agent <name>", "agent that presents it (default: the agent of the token)")
    .option("-s, --session <id>", "session that uses it (default: the session of the token)")
    .option(
      "-p, --principal <name>",
      "principal that uses it (default: the principal of the token)",
    )
    .option("-r, --revocations <file>", "file with revoked tokens")
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLE)
    .action(inspect);
}

async function inspect(argument: string, flags: Flags): Promise<void> {
  const token = readTokenArgument(argument);
  const description = describeCapability(token);
  const verdict = flags.issuer === undefined ? undefined : await judge(token, flags);
  if (verdict !== undefined && verdict.status !== "valid") process.exitCode = EXIT.negative;
  if (flags.json === true) {
    const { status, reason } = verdict ?? { status: "unverified" };
    printJson({ ...description, status, ...(reason === undefined ? {} : { reason }) });
    return;
  }
  printDescription(description, nowInSeconds());
  printLine("");
  if (verdict === undefined)
    printLine("not verified. To verify it, name a trusted key with --issuer");
  else printVerdict(verdict);
}

async function judge(token: JsonValue, flags: Flags): Promise<CapabilityFacts> {
  const description = describeCapability(token);
  const keys = (flags.issuer ?? []).map(readKeyOption);
  const issuers: TrustedIssuer[] =
    flags.issuerName === undefined ? keys : [{ issuer: flags.issuerName, keys }];
  const verifier = createCapabilityVerifier({
    issuers,
    revocations: createRevocationList(readRevocations(flags.revocations)),
    clock: Date,
  });
  const principal = flags.principal ?? description.principal;
  return verifier.evaluate(token, {
    ...(principal === undefined ? {} : { principal }),
    agent: flags.agent ?? description.subject,
    sessionId: flags.session ?? description.sessionId ?? "",
  });
}

function readRevocations(file: string | undefined): ReturnType<typeof parseRevocations> {
  // A gateway that never revoked anything has no file yet.
  if (file === undefined || !existsSync(file)) return [];
  return parseRevocations(readText(file));
}
