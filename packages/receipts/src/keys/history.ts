import type { CountersignError, JsonObject, JsonValue } from "@countersign/core";
import {
  canonicalJson,
  concatBytes,
  isJsonObject,
  ownMember,
  parseJson,
  sha256Hex,
} from "@countersign/core";
import { utf8 } from "../receipt/canonical-text.js";
import { formatError } from "../receipt/errors.js";

/** The schema name of a key record, also the domain of its signatures. */
export const KEY_RECORD_SCHEMA = "countersign.key-history.v1";
/** Maximum number of lines of a history. */
export const MAX_KEY_RECORDS = 10_000;

/** The part of a key record that both signatures cover. */
export type KeyRecordBody = {
  schema: typeof KEY_RECORD_SCHEMA;
  /** Line number in the history, from 0. */
  number: number;
  /** The key this record introduces, `ed25519:` and hex. */
  key: string;
  /** Milliseconds since the epoch by the operator's clock. */
  created_at: number;
  /** No entry below this log index is signed with the key. */
  first_entry: number;
  /** Keys that sign no entry from `first_entry` on. */
  retires?: string[];
  /** Hex SHA-256 of the line before; absent on the first. */
  previous_hash?: string;
};

/** One line of `keys.jsonl`. */
export type KeyRecord = KeyRecordBody & {
  /** Signed by the key of the previous line; on the first line by its own key. */
  signature: string;
  /** Signed by the key itself: proof of possession; absent on the first line. */
  possession?: string;
};

const KEY = /^ed25519:[0-9a-f]{64}$/;
const SIGNATURE = /^ed25519:[0-9a-f]{128}$/;
const MEMBERS: ReadonlySet<string> = new Set<keyof KeyRecord>([
  "schema",
  "number",
  "key",
  "created_at",
  "first_entry",
  "retires",
  "previous_hash",
  "signature",
  "possession",
]);

/** The bytes both signatures cover: the schema name, a zero byte, canonical JSON of the body. */
export function keyRecordMessage(record: KeyRecordBody): Uint8Array {
  const body: JsonObject = { ...record };
  delete body["signature"];
  delete body["possession"];
  return concatBytes(utf8(`${KEY_RECORD_SCHEMA}\0`), utf8(canonicalJson(body)));
}

/** One line of the file, without its line feed. */
export function encodeKeyRecord(record: KeyRecord): string {
  return canonicalJson({ ...record });
}

/** The value of the next line's `previous_hash`. */
export function keyRecordHash(record: KeyRecord): string {
  return sha256Hex(encodeKeyRecord(record));
}

function malformed(line: number, reason: string): CountersignError {
  return formatError("ERR_KEYS_MALFORMED", `line ${line} of the key history: ${reason}`, {
    line,
    reason,
  });
}

function isCount(value: JsonValue | undefined): boolean {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function matches(value: JsonValue | undefined, pattern: RegExp): boolean {
  return typeof value === "string" && pattern.test(value);
}

function parseRecord(text: string, line: number): KeyRecord {
  let value: JsonValue;
  try {
    value = parseJson(text, { maxBytes: 65_535 });
  } catch (cause) {
    throw formatError(
      "ERR_KEYS_MALFORMED",
      "a key record is not JSON",
      { line, reason: "JSON" },
      cause,
    );
  }
  if (!isJsonObject(value)) throw malformed(line, "not an object");
  const record = value;
  if (Object.keys(record).some((name) => !MEMBERS.has(name)))
    throw malformed(line, "unknown member");
  const own = (name: keyof KeyRecord) => ownMember(record, name);
  if (own("schema") !== KEY_RECORD_SCHEMA) throw malformed(line, "schema");
  if (!matches(own("key"), KEY)) throw malformed(line, "key");
  for (const name of ["number", "created_at", "first_entry"] as const) {
    if (!isCount(own(name))) throw malformed(line, name);
  }
  const retires = own("retires") ?? [];
  if (!Array.isArray(retires) || !retires.every((key) => matches(key, KEY))) {
    throw malformed(line, "retires");
  }
  const previous = own("previous_hash");
  if (previous !== undefined && !matches(previous, /^[0-9a-f]{64}$/)) {
    throw malformed(line, "previous_hash");
  }
  const possession = own("possession");
  if (possession !== undefined && !matches(possession, SIGNATURE))
    throw malformed(line, "possession");
  if (!matches(own("signature"), SIGNATURE)) throw malformed(line, "signature");
  if (canonicalJson(record) !== text) throw malformed(line, "not canonical");
  return record as unknown as KeyRecord;
}

/** Reads `keys.jsonl`: one canonical record per line, each line ended by a line feed. */
export function parseKeyHistory(text: string): KeyRecord[] {
  if (text === "") return [];
  if (!text.endsWith("\n")) throw malformed(0, "last line has no line feed");
  const lines = text.slice(0, -1).split("\n");
  if (lines.length > MAX_KEY_RECORDS) throw malformed(MAX_KEY_RECORDS + 1, "too many records");
  return lines.map((line, index) => parseRecord(line, index + 1));
}
