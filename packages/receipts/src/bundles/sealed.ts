import { join } from "node:path";
import { decodeHex, encodeHex, parseJson } from "@countersign/core";
import { corrupt } from "../store/failure.js";
import type { Disk } from "./disk.js";
import type { Committed } from "./recover.js";

/** The state at the start of the first file that is left, and the first entry of whole bundles in it. */
export type Removed = Committed & { readonly first: number };

/** The file with the state before which entries were removed. */
export const REMOVED_FILE = "removed";

const sealedFile = (directory: string): string => join(directory, "sealed");

/** Stores the state up to which every file was synced: the next start reads from there. */
export async function writeSealed(disk: Disk, directory: string, state: Committed): Promise<void> {
  await disk.replace(sealedFile(directory), encodeSealed(state));
}

/** Reads the stored state, without comparing it with the files it refers to. */
export async function readSealed(disk: Disk, directory: string): Promise<Committed | undefined> {
  return decodeSealed(await disk.readText(sealedFile(directory)));
}

/** Stores the state before which entries are removed; written before any file is deleted. */
export async function writeRemoved(disk: Disk, directory: string, state: Removed): Promise<void> {
  await disk.replace(join(directory, REMOVED_FILE), encodeSealed(state, { first: state.first }));
}

/** Reads that state; undefined when nothing was removed. */
export async function readRemoved(disk: Disk, directory: string): Promise<Removed | undefined> {
  return decodeRemoved(await disk.readText(join(directory, REMOVED_FILE)));
}

/** Decodes that state. Unlike the sealed state it cannot be found again in the log: damage is an error. */
export function decodeRemoved(text: string | undefined): Removed | undefined {
  if (text === undefined) return undefined;
  const state = decodeSealed(text);
  const first = state === undefined ? undefined : (parseJson(text) as { first?: unknown }).first;
  if (state === undefined || !isCount(first) || first < state.frontier.size) {
    throw corrupt(0, "the state of removed entries cannot be read");
  }
  return { ...state, first };
}

function encodeSealed(state: Committed, more: { readonly first?: number } = {}): string {
  const { frontier, position } = state;
  return `${JSON.stringify({
    ...more,
    size: frontier.size,
    position,
    hashes: frontier.hashes.map((hash) => encodeHex(hash)),
  })}\n`;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Unexpected content means "not known": the log is read from its first entry. */
function decodeSealed(text: string | undefined): Committed | undefined {
  if (text === undefined || text.length > 10_000) return undefined;
  try {
    const value = parseJson(text) as { size?: unknown; position?: unknown; hashes?: unknown };
    if (!isCount(value.size) || !isCount(value.position) || !Array.isArray(value.hashes)) {
      return undefined;
    }
    let ones = 0;
    for (let rest = value.size; rest > 0; rest = Math.floor(rest / 2)) ones += rest % 2;
    const hashes = value.hashes.map((hash) => decodeHex(String(hash)));
    if (hashes.length !== ones || hashes.some((hash) => hash.length !== 32)) return undefined;
    return { frontier: { size: value.size, hashes }, position: value.position };
  } catch {
    return undefined;
  }
}
