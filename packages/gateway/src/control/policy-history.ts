import { isJsonObject, parseJson } from "@countersign/core";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { readRegularFile } from "../base/files.js";
import type { Journal } from "../base/ports.js";
import { rewriteFile } from "../base/rewrite-file.js";

/** What changed the policy. */
export type PolicySource = "console" | "api" | "cli" | "file" | "signal";

/** One policy that was in force. */
export type PolicyRecord = {
  readonly hash: string;
  /** Milliseconds since the epoch. */
  readonly applied_at: number;
  readonly operator: string;
  readonly source: PolicySource;
  readonly comment?: string;
  /** The text of the policy file. */
  readonly text?: string;
};

/** The policies that were in force, the newest first. */
export type PolicyHistory = {
  readonly items: readonly PolicyRecord[];
  /** Adds a policy. A history that cannot be written is reported and changes nothing else. */
  add(record: PolicyRecord): Promise<void>;
};

const MAX_RECORDS = 100;
/** Characters of all texts; the oldest records go first. */
const MAX_CHARACTERS = 4 * 1024 * 1024;
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** Opens the history in a file of lines. A damaged line is skipped: the log proves who did what, this only helps. */
export function openPolicyHistory(file: string, journal: Journal): PolicyHistory {
  let items: readonly PolicyRecord[] = existsSync(file) ? readRecords(file) : [];
  let writing = Promise.resolve();
  const write = async (): Promise<void> => {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await rewriteFile(file, items.map((item) => `${JSON.stringify(item)}\n`).join(""));
  };
  return {
    get items() {
      return items;
    },
    add: (record) => {
      items = bounded([record, ...items]);
      writing = writing.then(write).catch((error: unknown) => {
        const { code = "unknown" } = error as NodeJS.ErrnoException;
        journal.error({ code, file }, "the history of the policy could not be written");
      });
      return writing;
    },
  };
}

function bounded(items: readonly PolicyRecord[]): readonly PolicyRecord[] {
  let characters = 0;
  return items.slice(0, MAX_RECORDS).filter(({ text = "" }, index) => {
    characters += text.length;
    return index === 0 || characters <= MAX_CHARACTERS;
  });
}

function readRecords(file: string): readonly PolicyRecord[] {
  const lines = readRegularFile(file, MAX_FILE_BYTES).toString("utf8").split("\n");
  return bounded(lines.flatMap((line) => readRecord(line) ?? []));
}

function readRecord(line: string): PolicyRecord | undefined {
  try {
    const value = parseJson(line);
    if (!isJsonObject(value)) return undefined;
    const { hash, applied_at: at, operator, source } = value;
    const isWhole =
      [hash, operator, source].every((one) => typeof one === "string") && typeof at === "number";
    return isWhole ? (value as unknown as PolicyRecord) : undefined;
  } catch {
    return undefined;
  }
}
