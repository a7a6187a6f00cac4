import type { CountersignError } from "@countersign/core";
import { decodeBase64, encodeBase64 } from "@countersign/core";
import { HASH_BYTES } from "../merkle/hash.js";
import { isNoteName } from "../note/vkey.js";
import { formatError } from "../receipt/errors.js";

/** The state that a log commits to: the first `size` entries, under one root. */
export type Checkpoint = {
  /** Identity of the log; also the name of the key that signs for it. */
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array;
};

function malformed(line: number, reason: string): CountersignError {
  return formatError("ERR_CHECKPOINT_MALFORMED", `not a checkpoint: ${reason}`, {
    line,
    reason,
  });
}

/** The text of a checkpoint, to be signed as a note (C2SP tlog-checkpoint, no extension lines). */
export function encodeCheckpoint(checkpoint: Checkpoint): string {
  const { origin, size, root } = checkpoint;
  if (!isNoteName(origin)) throw new TypeError("an origin has no spaces and no plus sign");
  if (!Number.isSafeInteger(size) || size < 0) throw new TypeError("a tree size is not negative");
  if (root.length !== HASH_BYTES) throw new TypeError("a root hash is 32 bytes");
  return `${origin}\n${size}\n${encodeBase64(root)}\n`;
}

/** A decimal number without sign and leading zeros, small enough to be exact; else undefined. */
export function parseDecimal(text: string): number | undefined {
  if (!/^(?:0|[1-9]\d{0,15})$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : undefined;
}

/** Reads the text of a checkpoint; extension lines are allowed and opaque. */
export function parseCheckpoint(text: string): Checkpoint {
  if (!text.endsWith("\n")) throw malformed(0, "last line has no line feed");
  const lines = text.slice(0, -1).split("\n");
  const [origin = "", sizeText = "", rootText = ""] = lines;
  if (lines.length < 3) throw malformed(lines.length, "fewer than three lines");
  const empty = lines.indexOf("");
  if (empty >= 0) throw malformed(empty + 1, "empty line");
  if (!isNoteName(origin)) throw malformed(1, "origin");
  const size = parseDecimal(sizeText);
  if (size === undefined) throw malformed(2, "tree size");
  let root: Uint8Array;
  try {
    root = decodeBase64(rootText);
  } catch {
    throw malformed(3, "root hash");
  }
  if (root.length !== HASH_BYTES) throw malformed(3, "root hash");
  return { origin, size, root };
}
