import { CountersignError, printableText } from "@countersign/core";
import {
  allRules,
  explainCode,
  explainEntry,
  explainName,
  explainRule,
  openingOfCode,
  openingsOfCode,
} from "@countersign/gateway";
import type { NamedOpening, NameMeaning } from "@countersign/gateway";
import { isRuleId, RULES } from "@countersign/inspect";
import type { RuleId } from "@countersign/inspect";
import type { PolicyDocument } from "@countersign/policy";
import { decodeEntry } from "@countersign/receipts";
import type { LogEntry } from "@countersign/receipts";
import pc from "picocolors";
import { asTyped } from "../../output/command-name.js";
import { pageReference } from "../../output/pages.js";
import { printJson, printLine } from "../../output/print.js";
import { formatTable } from "../../output/table.js";
import "../errors.js";
import { describeEntry } from "../receipts/describe.js";
import { findEntry } from "../receipts/find.js";
import { findLocation, withStore } from "../receipts/location.js";
import type { LocationFlags } from "../receipts/location.js";
import { pathExists } from "../../files/path-exists.js";
import { codeOfMessage, codeOfSentence, pageOf, plain } from "./error-pages.js";
import { compilePolicyFile } from "./policy-file.js";
import { shippedPolicy } from "../../files/shipped-policy.js";

/** The policy file where none is named. */
export const DEFAULT_POLICY = "policy.yaml";

/** The location of the receipts, and the policy to test lines with. */
export type ExplainFlags = LocationFlags & { readonly policy: string };

/** A number in the log or the id of a receipt; behind its prefix stands an event's id, which may be an agent's choice. */
const RECEIPT = /^(?:\d{1,15}|agui-.+)$/su;

/** Explains any name that the product prints, or the decision on a receipt. */
export async function explainNamed(
  name: string,
  flags: ExplainFlags,
  json: boolean,
): Promise<void> {
  if (RECEIPT.test(name)) {
    const { bytes } = await withStore(findLocation(flags), (store) => findEntry(store, name));
    printEntry(decodeEntry(bytes), flags, json);
    return;
  }
  const code = codeOfSentence(name) ?? name.replace(/^urn:countersign:problem:/u, "");
  if (pageOf(code) !== undefined) {
    explainErrorCode(code, json);
    return;
  }
  const meaning = explainName(name, policyOf(flags)) ?? doctorMeaning(name);
  if (meaning === undefined) {
    const said = codeOfMessage(name);
    if (said === undefined) throw unknown(name);
    explainErrorCode(said, json);
    return;
  }
  if (!json) printMeaning(meaning);
  else if (meaning.kind === "rule") printJson({ rule: name, ...explainRule(name) });
  else if (meaning.kind === "code") explainErrorCode(code, json);
  else printJson(meaning);
}

/** The policy that lines are tried on: the one that is named, or the starter where none is there. */
function policyOf({ policy }: ExplainFlags): PolicyDocument {
  if (policy !== DEFAULT_POLICY || pathExists(policy)) return compilePolicyFile(policy).document;
  return compilePolicyFile(shippedPolicy("starter.yaml")).document;
}

/** A rule of the doctor that is about the network or the transport, which the gateway does not judge. */
function doctorMeaning(name: string): NameMeaning | undefined {
  const ids = Object.keys(RULES).filter(isRuleId);
  const rule = ids.find((id) => id === name || printedBy(id).includes(plain(name)));
  if (rule === undefined) return undefined;
  const { what, why, fix } = RULES[rule];
  const closed =
    "the doctor reports it; the gateway ends a run that it cannot read (gateway/invalid)";
  return {
    name,
    kind: rule === name ? "rule of the doctor" : `sentence of the rule of the doctor ${rule}`,
    means: `${what} ${why}`,
    remedy: fix,
    openings: [{ opening: { closed } }],
  };
}

function printedBy(rule: RuleId): string[] {
  const { title, what, why, fix } = RULES[rule];
  return [title, what, why, fix].map(plain);
}

/** Lists every rule that a receipt can name. */
export function listRules(json: boolean): void {
  const rules = [...allRules()];
  if (json) printJson(rules.map(([rule, meaning]) => ({ rule, ...meaning })));
  else
    printLine(
      formatTable(
        ["rule", "what it says"],
        rules.map(([rule, { means }]) => [rule, means]),
      ),
    );
}

/** The pointer and the remedy of a problem document. */
export type ProblemDetails = {
  readonly pointer?: string;
  readonly remedy?: string;
  readonly detail?: string;
};

/** Explains a code, with what a problem document adds to it. */
export function explainErrorCode(code: string, json: boolean, told: ProblemDetails = {}): void {
  // The remedy for this refusal comes before the general one of the page.
  const [page, known] = [pageOf(code), explainCode(code)];
  const remedy = told.remedy ?? known?.remedy ?? page?.remedy;
  if (remedy === undefined) throw unknown(code);
  const { cause } = page ?? {};
  const { pointer } = told;
  const openings = openingsOfCode(code, told.detail);
  const [{ opening } = { opening: openingOfCode(code) }] = openings;
  if (json) {
    const why = cause === undefined ? {} : { cause };
    printJson({ ...known, ...told, ...why, remedy, opening, openings, code });
    return;
  }
  const { status, title } = known ?? {};
  printLine(pc.bold(code) + (status === undefined ? "" : ` (HTTP ${status}): ${title}`));
  if (cause !== undefined) printLine(`${pc.dim("cause")}  ${cause}`);
  if (pointer !== undefined) printLine(`${pc.dim("where")}  ${pointer}`);
  printLine(`${pc.dim("fix")}    ${asTyped(remedy)}`);
  printOpenings(openings);
  printLine(pc.dim(`\nAll codes: ${pageReference("errors.md")}`));
  printLine(pc.dim(`Requests of a client: ${pageReference("inbound.md")}`));
}

function printEntry(entry: LogEntry, flags: ExplainFlags, json: boolean): void {
  const { rule } = entry;
  const code = /\bERR_[A-Z0-9_]+/.exec(entry.receipt.denial_reason ?? "")?.[0];
  const { rules, named } = explainEntry(entry, policyOf(flags));
  if (json) {
    const refusal = code === undefined ? undefined : explainCode(code);
    const meaning = rule === undefined ? undefined : explainRule(rule);
    printJson({
      entry,
      ...(meaning === undefined ? {} : { meaning }),
      ...(named === undefined ? {} : { named }),
      ...(refusal === undefined ? {} : { refusal: { code, ...refusal } }),
    });
    return;
  }
  printLine(describeEntry(entry));
  printLine("");
  if (rule === undefined) printLine("no rule matched: the gateway forwarded the event");
  for (const one of rule === undefined ? [] : [rule, ...(entry.further_rules ?? [])]) {
    const known = rules.find(({ name }) => name === one);
    if (known === undefined) printLine(`${printableText(one)} is not a rule of this version`);
    else printMeaning(known);
    printLine("");
  }
  if (named !== undefined) printMeaning(named);
  if (code !== undefined && explainCode(code) !== undefined) explainErrorCode(code, false);
}

function printMeaning({ name, kind, means, remedy, openings }: NameMeaning): void {
  printLine(`${pc.bold(printableText(name))}${kind === "rule" ? "" : ` (${kind})`}: ${means}`);
  if (remedy !== undefined) printLine(`${pc.dim("fix")}    ${asTyped(remedy)}`);
  printOpenings(openings);
}

/** Prints what allows something, as lines that can be copied; several kinds of event have a block each. */
export function printOpenings(openings: readonly NamedOpening[]): void {
  const label = pc.dim("allow");
  const isOne = openings.length < 2;
  if (!isOne) printLine(`${label}  use the lines for the kind of event that you mean:`);
  for (const { about, opening } of openings) {
    const what = about === undefined ? "" : `${about}: `;
    const start = isOne ? `${label}  ${what}` : `       - ${what}`;
    if ("closed" in opening) printLine(`${start}no line to add; ${opening.closed}`);
    else if ("passes" in opening) printLine(`${start}${opening.passes}`);
    else {
      const inPolicy = "policy" in opening;
      const where = inPolicy ? "add to the policy under rules" : "add to countersign.yaml";
      const lines = inPolicy ? opening.policy : opening.config;
      printLine(`${start}${where}`);
      printLine(lines.replaceAll(/^/gmu, "         "));
    }
  }
  if (openings.some(({ opening }) => "policy" in opening || "config" in opening)) printLine(MERGE);
}

const MERGE = pc.dim(
  "       If the block exists, add the lines to it, before the entries of a list. If the policy extends another\n       one, add the lines where the block is: a block replaces the whole block of the other policy.",
);

function unknown(name: string): CountersignError {
  return new CountersignError(
    "ERR_CLI_NOTHING_TO_EXPLAIN",
    `"${name.slice(0, 64)}" is not a rule, a code, a receipt or another name of the product; \`policy explain --rules\` lists the rules, and ${pageReference("errors.md")} all codes`,
    { name },
  );
}
