import { hash } from "node:crypto";
import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { matchPlainEntry } from "../entry/plain-entry.js";
import type { KeyPeriod } from "../keys/verify-history.js";
import { parseKeyText } from "../keys/key-text.js";
import type { SignatureVerifier } from "../note/verify-note.js";
import { joinHashes } from "../sign/subtrees.js";
import { MAX_BUNDLE_BYTES } from "../tiles/bundle.js";
import { TILE_WIDTH, tilePath } from "../tiles/path.js";
import type { BundleReport } from "../verify/bundle.js";
import type { CheckId } from "../verify/result.js";

/** What a thread needs to look at bundles of one export. */
export type SoundContext = {
  readonly directory: string;
  readonly check: SignatureVerifier;
  readonly periods: ReadonlyMap<string, KeyPeriod> | undefined;
};

const HASH_BYTES = 32;
const SIGNATURE_BYTES = 64;
const LENGTH_BYTES = 2;
const LINE_FEED = 0x0a;
const SINGLY = /^ed25519:[0-9a-f]{128}$/;
const HELD: readonly CheckId[] = [
  "entries-complete",
  "leaf-tiles",
  "entry-format",
  "entry-sequence",
  "receipt-signature",
  "deny-signed-singly",
  "entry-key",
];
const signature = Buffer.alloc(SIGNATURE_BYTES);
let message = Buffer.alloc(4_096);

function readWhole(path: string, maxBytes: number): Buffer | undefined {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    return undefined;
  }
  try {
    return fstatSync(file).size > maxBytes ? undefined : readFileSync(file);
  } catch {
    return undefined;
  } finally {
    closeSync(file);
  }
}

/** Whether a receipt is signed by itself and by a key that was in use; false is "look closer". */
function isSigned(
  receipt: string,
  member: { key: string; signature: string },
  index: number,
  context: SoundContext,
): boolean {
  const period = context.periods?.get(member.key);
  if (period === undefined || index < period.first || index >= period.end) return false;
  if (!SINGLY.test(member.signature)) return false;
  const name = `,"signature":"${member.signature}"`;
  const at = receipt.indexOf(name);
  const length = receipt.length - name.length;
  if (length > message.length) message = Buffer.alloc(length * 2);
  message.write(receipt.slice(0, at), 0, "latin1");
  message.write(receipt.slice(at + name.length), at, "latin1");
  signature.write(member.signature.slice("ed25519:".length), "hex");
  return context.check(keyOf(member.key), message.subarray(0, length), signature) === true;
}

let lastKey: { text: string; bytes: Uint8Array } = { text: "", bytes: new Uint8Array(0) };
function keyOf(text: string): Uint8Array {
  if (lastKey.text !== text) lastKey = { text, bytes: parseKeyText(text) };
  return lastKey.bytes;
}

/**
 * Verifies a bundle in which everything is in order and nothing unusual: plain entries, each signed
 * singly. Anything else, broken or merely rare, gives undefined, and `verifyBundle` says what it is; so
 * this can only be faster (6 instead of 30 µs an entry beside the signature), never more lenient:
 * all of what that function checks is checked here.
 */
export function verifySoundBundle(
  index: number,
  width: number,
  context: SoundContext,
  lines: Uint8Array | undefined,
): BundleReport | undefined {
  const path = (level: number | "entries"): string =>
    join(context.directory, tilePath({ level, index, width }));
  const bundle = readWhole(path("entries"), MAX_BUNDLE_BYTES);
  const tile = readWhole(path(0), TILE_WIDTH * HASH_BYTES);
  if (bundle === undefined || tile?.length !== width * HASH_BYTES) return undefined;
  const keys = new Set<string>();
  const leaves: string[] = [];
  let at = 0;
  let lineAt = 0;
  for (let offset = 0; offset < width; offset += 1) {
    if (at + LENGTH_BYTES > bundle.length) return undefined;
    const start = at + LENGTH_BYTES;
    const end = start + bundle.readUInt16BE(at);
    if (end > bundle.length) return undefined;
    const text: string = bundle.toString("latin1", start, end);
    // Printable ASCII only, so that latin1 and UTF-8 are the same.
    const entry = matchPlainEntry(text);
    const seq = index * TILE_WIDTH + offset;
    if (entry === undefined || entry.seq !== seq) return undefined;
    const from: number = text.indexOf(',"receipt":{') + ',"receipt":'.length;
    const to: number = text.indexOf(',"received_at":', from);
    const { kernel_key: key, signature: signed } = entry.receipt;
    if (!isSigned(text.slice(from, to), { key, signature: signed }, seq, context)) return undefined;
    keys.add(key);
    if (lines !== undefined) {
      const lineEnd = lineAt + to - from;
      if (lines[lineEnd] !== LINE_FEED) return undefined;
      if (bundle.compare(lines, lineAt, lineEnd, start + from, start + to) !== 0) return undefined;
      lineAt = lineEnd + 1;
    }
    // The leaf prefix 0x00 takes the place of the length, which is read already: no copy for hashing.
    bundle[start - 1] = 0;
    leaves.push(hash("sha256", bundle.subarray(start - 1, end), "binary"));
    at = end;
  }
  if (at !== bundle.length) return undefined;
  const computed = Buffer.from(leaves.join(""), "latin1");
  if (!computed.equals(tile)) return undefined;
  const tallied = lines === undefined ? HELD : [...HELD, "receipts-file" as const];
  return {
    index,
    tallies: tallied.map((id) => ({ id, held: width, failed: 0 })),
    keys: [...keys],
    ...(width === TILE_WIDTH ? { root: rootOf(leaves) } : { leaves: cut(computed) }),
  };
}

function rootOf(leaves: readonly string[]): Uint8Array {
  let level = leaves;
  while (level.length > 1) {
    const above: string[] = [];
    for (let index = 0; index < level.length; index += 2) {
      above.push(joinHashes(level[index] as string, level[index + 1] as string));
    }
    level = above;
  }
  return new Uint8Array(Buffer.from(level[0] as string, "latin1"));
}

function cut(hashes: Buffer): Uint8Array[] {
  return Array.from(
    { length: hashes.length / HASH_BYTES },
    (_, index) => new Uint8Array(hashes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES)),
  );
}
