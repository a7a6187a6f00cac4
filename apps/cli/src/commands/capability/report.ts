import type { CapabilityDescription, CapabilityFacts } from "@countersign/capability";
import { describeCapability } from "@countersign/capability";
import type { IssuedCapability } from "@countersign/capability/issue";
import pc from "picocolors";
import { printJson, printLine } from "../../output/print.js";

/** Prints a fresh token; for people it is the last line, so that it can be piped. */
export function printIssued({ token, claims }: IssuedCapability, json: boolean, now: number): void {
  if (json) {
    printJson({ token, claims });
    return;
  }
  printDescription(describeCapability(token), now);
  printLine("");
  printLine(token);
}

/** Prints what a token says about itself, for people. */
export function printDescription(token: CapabilityDescription, now: number): void {
  const rows: [string, string][] = [
    ["id", token.id],
    ["format", token.format],
    ["issuer", token.issuer],
    [token.format === "chio" ? "subject" : "agent", token.subject],
    ["session", token.sessionId ?? (token.format === "chio" ? "see its grants" : "every session")],
    ["principal", token.principal ?? "any user of the session"],
    [
      "valid",
      `${formatTime(token.notBefore)} to ${formatTime(token.expiresAt)} (${left(token, now)})`,
    ],
    ["events", token.maxEvents === undefined ? "no limit" : `at most ${token.maxEvents}`],
    ["scopes", token.scopes.length === 0 ? "none" : token.scopes.join("\n            ")],
  ];
  if (token.links.length > 1) rows.push(["narrowings", String(token.links.length - 1)]);
  for (const [name, value] of rows) printLine(`${pc.dim(name.padEnd(10))}  ${value}`);
  if (token.needsHolder) {
    printLine(pc.yellow("the holder must narrow it before use: countersign capability narrow"));
  }
}

/** Prints the verdict on a token. */
export function printVerdict({ status, reason }: CapabilityFacts): void {
  printLine(status === "valid" ? pc.green("valid") : `${pc.red(status)}  ${reason ?? ""}`);
}

function formatTime(seconds: number): string {
  // Chio's times go beyond what a date can hold.
  return seconds > 8.64e12 ? "ever" : new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
}

function left({ notBefore, expiresAt }: CapabilityDescription, now: number): string {
  if (now < notBefore) return `starts in ${formatSpan(notBefore - now)}`;
  return now < expiresAt ? `${formatSpan(expiresAt - now)} left` : "expired";
}

function formatSpan(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800
    ? `${Math.floor(seconds / 3600)} h`
    : `${Math.floor(seconds / 86_400)} d`;
}
