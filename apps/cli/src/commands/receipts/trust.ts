import { CountersignError } from "@countersign/core";
import { verifyEd25519 } from "@countersign/core/verify";
import {
  encodeKeyText,
  findBrokenRecord,
  keyPeriods,
  parseKeyHistory,
  parseKeyText,
  parseVkey,
  trustedThroughHistory,
} from "@countersign/receipts";
import { InvalidArgumentError } from "commander";
import "../errors.js";
import { readInput } from "./input.js";

/** The keys that the verifier trusts; an omitted member is not checked. */
export type Trust = {
  readonly trustedKeys?: string[];
  readonly trustedLogs?: string[];
  /** When each key of a history that was given was in use. */
  readonly periods?: ReturnType<typeof keyPeriods>;
};

/** Takes one more receipt key. */
export function collectKey(text: string, before: string[] | undefined): string[] {
  try {
    return [...(before ?? []), encodeKeyText(parseKeyText(text))];
  } catch {
    throw new InvalidArgumentError(
      "Write ed25519: and 64 hexadecimal digits, as countersign keys show prints.",
    );
  }
}

/** Takes one more log key. */
export function collectLogKey(text: string, before: string[] | undefined): string[] {
  try {
    parseVkey(text);
  } catch {
    throw new InvalidArgumentError("Write name+id+key, as in the file log.vkey.");
  }
  return [...(before ?? []), text];
}

/** The lists as they were given. */
export function readTrust(flags: { key?: string[]; logKey?: string[] }): Trust {
  return {
    ...(flags.key === undefined ? {} : { trustedKeys: flags.key }),
    ...(flags.logKey === undefined ? {} : { trustedLogs: flags.logKey }),
  };
}

/** Adds the keys that trusted keys handed over to, and when each was in use, when a history was given. */
export async function extendTrust(trust: Trust, historyFile: string | undefined): Promise<Trust> {
  if (historyFile === undefined) return trust;
  const records = parseKeyHistory(await readInput(historyFile));
  const broken = await findBrokenRecord(records, verifyEd25519);
  if (broken !== undefined) {
    throw new CountersignError(
      "ERR_CLI_KEY_HISTORY",
      `${historyFile}, line ${broken.line}: ${broken.reason}`,
      { file: historyFile },
    );
  }
  const periods = keyPeriods(records);
  if (trust.trustedKeys === undefined) return { ...trust, periods };
  const trusted = trustedThroughHistory(records, new Set(trust.trustedKeys));
  return { ...trust, periods, trustedKeys: [...trusted] };
}
