import { join } from "node:path";
import { decodeHex, encodeHex, parseJson } from "@countersign/core";
import type { Disk } from "./disk.js";
import type { Committed } from "./recover.js";

const sealedFile = (directory: string): string => join(directory, "sealed");

/** Stores the state up to which every file was synced: the next start reads from there. */
export async function writeSealed(disk: Disk, directory: string, state: Committed): Promise<void> {
  await disk.replace(sealedFile(directory), encodeSealed(state));
}

/** Reads the stored state, without comparing it with the files it refers to. */
export async function readSealed(disk: Disk, directory: string): Promise<Committed | undefined> {
  return decodeSealed(await disk.readText(sealedFile(directory)));
}

function encodeSealed(state: Committed): string {
  const { frontier, position } = state;
  return `${JSON.stringify({
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
