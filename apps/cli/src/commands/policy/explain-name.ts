import { CountersignError } from "@countersign/core";
import { allRules, explainCode, explainRule } from "@countersign/gateway";
import type { RuleMeaning } from "@countersign/policy";
import { decodeEntry } from "@countersign/receipts";
import type { LogEntry } from "@countersign/receipts";
import pc from "picocolors";
import { printJson, printLine } from "../../output/print.js";
import { formatTable } from "../../output/table.js";
import "../errors.js";
import { pageOf } from "./error-pages.js";
import { describeEntry } from "../receipts/describe.js";
import { findEntry } from "../receipts/find.js";
import { findPlace, withStore } from "../receipts/place.js";
import type { PlaceFlags } from "../receipts/place.js";

const CODE = /^[A-Z][A-Z0-9_]+$/;
/** A number in the log or the id of a receipt; behind its prefix stands an event's id, which may be an agent's choice. */
const RECEIPT = /^(?:\d{1,15}|agui-.+)$/su;

/** Explains a rule, a code of a refusal, or the decision on a receipt. */
export async function explainName(name: string, flags: PlaceFlags, json: boolean): Promise<void> {
  const rule = explainRule(name);
  if (rule !== undefined) {
    if (json) printJson({ rule: name, ...rule });
    else printMeaning(name, rule);
    return;
  }
  if (CODE.test(name)) {
    explainErrorCode(name, json);
    return;
  }
  if (!RECEIPT.test(name)) throw unknown(name);
  const { bytes } = await withStore(findPlace(flags), (store) => findEntry(store, name));
  explainEntry(decodeEntry(bytes), json);
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

/** What a problem document says beside its code: where, and what helps just there. */
export type Told = { readonly pointer?: string; readonly remedy?: string };

/** Explains a code, with what a problem document adds to it. */
export function explainErrorCode(code: string, json: boolean, told: Told = {}): void {
  // What helps a client that was refused comes before what the page says to everybody.
  const [page, known] = [pageOf(code), explainCode(code)];
  const remedy = told.remedy ?? known?.remedy ?? page?.remedy;
  if (remedy === undefined) throw unknown(code);
  const { cause } = page ?? {};
  const { pointer } = told;
  if (json) {
    const why = cause === undefined ? {} : { cause };
    printJson({ ...known, ...told, ...why, remedy, code });
    return;
  }
  const { status, title } = known ?? {};
  printLine(pc.bold(code) + (status === undefined ? "" : ` (HTTP ${status}): ${title}`));
  if (cause !== undefined) printLine(`${pc.dim("cause")}  ${cause}`);
  if (pointer !== undefined) printLine(`${pc.dim("where")}  ${pointer}`);
  printLine(`${pc.dim("helps")}  ${remedy}`);
  printLine(pc.dim("\nevery code: docs/errors.md; what a browser may say: docs/inbound.md"));
}

function explainEntry(entry: LogEntry, json: boolean): void {
  const { rule } = entry;
  const code = /\bERR_[A-Z0-9_]+/.exec(entry.receipt.denial_reason ?? "")?.[0];
  const meaning = rule === undefined ? undefined : explainRule(rule);
  if (json) {
    const refusal = code === undefined ? undefined : explainCode(code);
    printJson({
      entry,
      ...(meaning === undefined ? {} : { meaning }),
      ...(refusal === undefined ? {} : { refusal: { code, ...refusal } }),
    });
    return;
  }
  printLine(describeEntry(entry));
  printLine("");
  if (rule === undefined) printLine("no rule spoke: the event was let through");
  else if (meaning === undefined) printLine(`${rule} is no rule of this version`);
  else printMeaning(rule, meaning);
  for (const further of entry.further_rules ?? []) {
    const known = explainRule(further);
    printLine("");
    if (known === undefined) printLine(`${further} is no rule of this version`);
    else printMeaning(further, known);
  }
  if (code !== undefined && explainCode(code) !== undefined) {
    printLine("");
    explainErrorCode(code, false);
  }
}

function printMeaning(rule: string, { means, remedy }: RuleMeaning): void {
  printLine(`${pc.bold(rule)}: ${means}`);
  printLine(`${pc.dim("helps")}  ${remedy}`);
}

function unknown(name: string): CountersignError {
  return new CountersignError(
    "ERR_CLI_NOTHING_TO_EXPLAIN",
    `"${name.slice(0, 64)}" is no rule, no code and no receipt; \`policy explain --rules\` lists the rules, docs/errors.md every code`,
    { name },
  );
}
