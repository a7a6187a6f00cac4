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
Without --issuer nothing is verified: you see what the token says about itself.
Exit code: 0 described, or valid; 1 not valid; 2 could not be read.

Example:
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
    .description("show what a token says, and whether it is true")
    .argument("[token]", "the token, - for standard input", "-")
    .option(
      "-i, --issuer <key>",
      "trusted issuer: ed25519:<hex>, PEM or JWK file; may be repeated",
      collect,
    )
    .option(
      "--issuer-name <name>",
      "the name these keys belong to; without it, the key is the name",
    )
    .option("-a, --agent <name>", "as presented by this agent; without it, by the one it names")
    .option("-s, --session <id>", "as presented in this session; without it, in the one it names")
    .option("-p, --principal <name>", "as used by this principal; without it, by the one it names")
    .option("-r, --revocations <file>", "revocation file")
    .option("--json", "for machines")
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
  if (verdict === undefined) printLine("not verified; name the issuer you trust with --issuer");
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
