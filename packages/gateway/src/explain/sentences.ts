import { REASON_CODES } from "@countersign/policy";
import { DEVIATIONS, NOTE_MESSAGES } from "@countersign/wire/dialects";
import { STATUSES } from "../http/problem.js";
import { allRemedies } from "../http/remedies.js";
import { ALL_FAILURES } from "../outbound/deliver/run-error.js";
import { METRICS } from "../telemetry/catalogue.js";
import { explainCode } from "./explain-code.js";
import { allRules, orderRules } from "./explain-rule.js";

/** Each sentence of the product's tables (titles, messages of errors, fixes, meanings), and the name that it belongs to. */
export function tableSentences(): [sentence: string, name: string][] {
  const codes = new Set([...Object.keys(STATUSES), ...allRemedies().keys()]);
  return [
    ...[...codes].flatMap((code): [string, string][] => {
      const { title, remedy } = explainCode(code) ?? {};
      return [title, remedy].flatMap((text) => (text === undefined ? [] : [[text, code]]));
    }),
    ...ALL_FAILURES.map(({ message, code }): [string, string] => [message, code]),
    ...[...allRules(), ...orderRules()].flatMap(([rule, { means, remedy }]): [string, string][] => [
      [means, rule],
      [remedy, rule],
    ]),
    ...Object.entries(REASON_CODES).map(([code, { means }]): [string, string] => [means, code]),
    ...Object.entries(NOTE_MESSAGES).map(([note, message]): [string, string] => [message, note]),
    ...Object.entries(DEVIATIONS).map(([id, { sends }]): [string, string] => [sends, id]),
    ...Object.entries(METRICS).map(([metric, { help }]): [string, string] => [help, metric]),
  ];
}

let byName: Map<string, Set<string>> | undefined;

/** The names that a sentence of the tables belongs to; none for another text. */
export function namesOfSentence(text: string): readonly string[] {
  if (byName === undefined) {
    byName = new Map();
    for (const [sentence, name] of tableSentences()) {
      const key = sentence.replace(/\.$/u, "");
      byName.set(key, (byName.get(key) ?? new Set()).add(name));
    }
  }
  return [...(byName.get(text.replace(/\.$/u, "")) ?? [])];
}
