import { decodings } from "./encodings.js";
import type { Encoding, Finding, SafetyRules } from "./rules.js";

/** Maximum depth of nested encodings. */
const MAX_NESTING = 3;
/** Characters searched per input character: nested decodings of a hostile text would multiply. */
const MAX_WORK = 64;
const LEAST_WORK = 256 * 1024;
const MAX_REMEMBERED = 4096;
const MAX_REMEMBERED_LENGTH = 64;

type Reading = {
  readonly text: string;
  readonly encodings: readonly Encoding[];
  readonly placeOf: (offset: number) => number;
};

/**
 * Searches for forbidden text in a text and in all of its decodings. One finding per rule. When the
 * work exceeds its limit, the rest is reported as unchecked: unknown is not clean.
 */
export function scanText(
  text: string,
  rules: SafetyRules,
  work: number = Math.max(LEAST_WORK, text.length * MAX_WORK),
): Finding[] {
  if (rules.clean.has(text)) return [];
  const findings = scanReadings(text, rules, work);
  const isRemembered = text.length <= MAX_REMEMBERED_LENGTH && rules.clean.size < MAX_REMEMBERED;
  if (findings.length === 0 && isRemembered) rules.clean.add(text);
  return findings;
}

function scanReadings(text: string, rules: SafetyRules, allowed: number): Finding[] {
  const found = new Map<string, Finding>();
  let work = allowed;
  const queue: Reading[] = [{ text, encodings: [], placeOf: (offset) => offset }];
  for (let reading = queue.shift(); reading !== undefined; reading = queue.shift()) {
    work -= reading.text.length;
    if (work < 0) {
      found.set("", { kind: "unchecked", rule: -1, offset: 0, encodings: reading.encodings });
      break;
    }
    for (const { kind, rule, offset } of rules.search(reading.text)) {
      const key = `${kind}${rule}`;
      if (found.has(key)) continue;
      found.set(key, {
        kind,
        rule,
        offset: reading.placeOf(offset),
        encodings: reading.encodings,
      });
    }
    if (reading.encodings.length === MAX_NESTING) continue;
    const { placeOf, encodings } = reading;
    for (const decoded of decodings(reading.text)) {
      if (decoded.text === reading.text) continue;
      queue.push({
        text: decoded.text,
        encodings: [...encodings, decoded.encoding],
        placeOf: (offset) => placeOf(decoded.placeOf(offset)),
      });
    }
  }
  return [...found.values()];
}
