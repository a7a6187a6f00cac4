import { CountersignError } from "@countersign/core";
import { verifyEd25519 } from "@countersign/core/verify";
import {
  encodeKeyText,
  findBrokenRecord,
  keyPeriods,
  NOTE_COSIGNATURE,
  parseKeyHistory,
  parseKeyText,
  parseVkey,
  trustedThroughHistory,
} from "@countersign/receipts";
import { parseTrustAnchors, verifyTimestamp } from "@countersign/receipts/timestamp";
import type { TimestampVerifier, WitnessPolicy } from "@countersign/receipts/verify";
import { InvalidArgumentError } from "commander";
import "../errors.js";
import { readInput } from "./input.js";

/** The keys that the verifier trusts; an omitted member is not checked. */
export type Trust = {
  readonly trustedKeys?: string[];
  readonly trustedLogs?: string[];
  /** The witnesses that must have cosigned, and how many of them. */
  readonly witnesses?: WitnessPolicy;
  /** Verifies the timestamp that the verifier demands. */
  readonly verifyTimestamp?: TimestampVerifier;
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

/** Takes one more witness key. */
export function collectWitness(text: string, before: string[] | undefined): string[] {
  const fault = "Write the vkey of a witness, NAME+ID+KEY, as countersign witness show prints it.";
  try {
    if (parseVkey(text).type === NOTE_COSIGNATURE) return [...(before ?? []), text];
  } catch {
    throw new InvalidArgumentError(fault);
  }
  throw new InvalidArgumentError(`This is the key of a log. ${fault}`);
}

/** Takes a count of at least 1. */
export function collectCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError("Write a number of 1 or more.");
  return Number(text);
}

/** Flags that name third parties. */
export type AttestingFlags = {
  witness?: string[];
  witnessFile?: string;
  witnessThreshold?: number;
  witnessMaxAge?: number;
  witnessUrl?: string[];
  tsaCa?: string;
};

/** The witnesses of the flags; without a threshold all of them must have cosigned. */
async function readWitnesses(flags: AttestingFlags): Promise<WitnessPolicy | undefined> {
  const listed: string[] = [];
  const { witnessFile: file } = flags;
  if (file !== undefined) {
    for (const line of (await readInput(file)).split("\n")) {
      const text = line.replace(/#.*$/, "").trim();
      if (text !== "") listed.push(text);
    }
  }
  const keys = [...new Set([...(flags.witness ?? []), ...listed])];
  const { witnessThreshold: threshold = keys.length, witnessMaxAge: maxAgeSeconds } = flags;
  if (keys.length === 0) {
    if (threshold === 0 && maxAgeSeconds === undefined) return undefined;
    throw new TypeError(
      "--witness-threshold and --witness-max-age need the keys of the witnesses. Fix: add --witness VKEY or --witness-file FILE",
    );
  }
  for (const key of listed) {
    if (parseVkey(key).type !== NOTE_COSIGNATURE) {
      throw new TypeError(`${file ?? ""} has a key that is not of a witness: ${key}`);
    }
  }
  if (threshold > keys.length) {
    throw new TypeError(
      `--witness-threshold ${threshold} is more than the ${keys.length} named ${keys.length === 1 ? "witness" : "witnesses"}`,
    );
  }
  return { keys, threshold, ...(maxAgeSeconds === undefined ? {} : { maxAgeSeconds }) };
}

/** The lists as they were given. */
export async function readTrust(
  flags: { key?: string[]; logKey?: string[] } & AttestingFlags,
): Promise<Trust> {
  const witnesses = await readWitnesses(flags);
  const anchors =
    flags.tsaCa === undefined ? undefined : parseTrustAnchors(await readInput(flags.tsaCa));
  return {
    ...(witnesses === undefined ? {} : { witnesses }),
    ...(anchors === undefined
      ? {}
      : { verifyTimestamp: (response, text) => verifyTimestamp(response, text, anchors) }),
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
