import { createHash, createPublicKey, verify } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { canonicalText } from "./canonical.js";

/** An entry of an exported log, as far as tests look at it. */
export type AuditedEntry = {
  readonly seq: number;
  readonly direction: "inbound" | "outbound";
  readonly policy_hash: string;
  readonly rule?: string;
  readonly run_id?: string;
  readonly thread_id?: string;
  readonly received_at: number;
  readonly emitted_hash?: string;
  readonly receipt: {
    readonly payload_hash: string;
    readonly allowed: boolean;
    readonly timestamp: number;
    readonly [field: string]: unknown;
  };
};

const TILE = 256;
const SPKI = Buffer.from("302a300506032b6570032100", "hex");

function sha256(...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
}

function publicKey(raw: Buffer): KeyObject {
  return createPublicKey({ key: Buffer.concat([SPKI, raw]), format: "der", type: "spki" });
}

/** `x001/x234/067` for 1,234,067, as tiled logs name their files. */
function tilePath(index: number): string {
  let path = String(index % 1000).padStart(3, "0");
  for (let rest = Math.floor(index / 1000); rest > 0; rest = Math.floor(rest / 1000)) {
    path = `x${String(rest % 1000).padStart(3, "0")}/${path}`;
  }
  return path;
}

/** RFC 6962, section 2.1, over hashes of leaves. */
function rootOf(leaves: readonly Buffer[]): Buffer {
  const pending: { height: number; hash: Buffer }[] = [];
  for (const hash of leaves) {
    let top = { height: 0, hash };
    while (pending.at(-1)?.height === top.height) {
      const left = pending.pop() as typeof top;
      top = { height: top.height + 1, hash: sha256(Buffer.of(1), left.hash, top.hash) };
    }
    pending.push(top);
  }
  return (
    pending
      .map(({ hash }) => hash)
      .reduceRight<Buffer | undefined>(
        (right, left) => (right === undefined ? left : sha256(Buffer.of(1), left, right)),
        undefined,
      ) ?? sha256()
  );
}

/**
 * Reads an exported log with the standard library alone and returns its entries.
 *
 * Throws on a gap in the sequence, on a receipt with an invalid signature (`sign: each`), on a tree
 * that does not match its checkpoint, and on a checkpoint with an invalid signature.
 */
export async function auditExport(directory: string, logKey: string): Promise<AuditedEntry[]> {
  const [text = "", signatures = ""] = (
    await readFile(join(directory, "checkpoint"), "utf8")
  ).split("\n\n");
  const [, sizeText, rootText = ""] = text.split("\n");
  const size = Number(sizeText);
  const material = Buffer.from(
    logKey.slice(logKey.indexOf("+", logKey.indexOf("+") + 1) + 1),
    "base64",
  );
  const blob = Buffer.from(/— \S+ (\S+)/u.exec(signatures)?.[1] ?? "", "base64");
  if (!verify(null, Buffer.from(`${text}\n`), publicKey(material.subarray(1)), blob.subarray(4))) {
    throw new Error("the checkpoint is not signed by the key of the log");
  }
  const keys = new Map<string, KeyObject>();
  const entries: AuditedEntry[] = [];
  const leaves: Buffer[] = [];
  for (let first = 0; first < size; first += TILE) {
    const width = Math.min(TILE, size - first);
    const name = `${tilePath(first / TILE)}${width < TILE ? `.p/${width}` : ""}`;
    const bundle = await readFile(join(directory, "tile/entries", name));
    for (let offset = 0; offset < bundle.length;) {
      const start = offset + 2;
      offset = start + bundle.readUInt16BE(offset);
      const bytes = bundle.subarray(start, offset);
      const entry = JSON.parse(bytes.toString("utf8")) as AuditedEntry;
      if (entry.seq !== entries.length) {
        throw new Error(`entry ${entries.length} says it is number ${entry.seq}`);
      }
      checkReceipt(entry, keys);
      entries.push(entry);
      leaves.push(sha256(Buffer.of(0), bytes));
    }
  }
  if (entries.length !== size)
    throw new Error(`${entries.length} entries, but ${size} are claimed`);
  if (!rootOf(leaves).equals(Buffer.from(rootText, "base64"))) {
    throw new Error("the entries are not the tree that was signed");
  }
  return entries;
}

function checkReceipt({ seq, receipt }: AuditedEntry, keys: Map<string, KeyObject>): void {
  const { signature, ...body } = receipt;
  const name = String(receipt["kernel_key"]);
  const raw = (value: unknown): Buffer =>
    Buffer.from(String(value).slice("ed25519:".length), "hex");
  let key = keys.get(name);
  if (key === undefined) {
    key = publicKey(raw(name));
    keys.set(name, key);
  }
  // Signatures of groups are the command's own to verify; here only single ones are looked at.
  if (String(signature).startsWith("ed25519-batch:")) return;
  if (!verify(null, Buffer.from(canonicalText(body)), key, raw(signature))) {
    throw new Error(`the receipt of entry ${seq} is not signed by the key it names`);
  }
}
