import { createHash, createPublicKey, verify } from "node:crypto";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sampleLog } from "../testing/sample-log.js";
import { writeExport } from "./write-export.js";

// An auditor who has docs/receipts/format.md and a standard library: nothing below this line uses
// our code. It reads a directory and throws where the export is wrong.
type Json = Record<string, unknown>;
const sha = (...parts: Uint8Array[]) => createHash("sha256").update(Buffer.concat(parts)).digest();
const ed25519 = (key: Buffer, message: Buffer, signature: Buffer) => {
  const der = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), key]);
  return verify(
    null,
    message,
    createPublicKey({ key: der, format: "der", type: "spki" }),
    signature,
  );
};
const jcs = (value: unknown): string =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? `{${Object.keys(value)
        .sort()
        .map((name) => `${JSON.stringify(name)}:${jcs((value as Json)[name])}`)
        .join(",")}}`
    : Array.isArray(value)
      ? `[${value.map(jcs).join(",")}]`
      : JSON.stringify(value);
const must = (condition: boolean, what: string) => {
  if (!condition) throw new Error(what);
};
const hexOf = (text: string) => Buffer.from(text.replace(/^ed25519:/, ""), "hex");

function treeRoot(leaves: Buffer[]): Buffer {
  if (leaves.length === 0) return sha();
  if (leaves.length === 1) return leaves[0]!;
  const k = 2 ** Math.floor(Math.log2(leaves.length - 1));
  return sha(Buffer.of(1), treeRoot(leaves.slice(0, k)), treeRoot(leaves.slice(k)));
}

function pathRoot(leaf: Buffer, at: number, size: number, path: Buffer[]): Buffer {
  if (size === 1) {
    must(path.length === 0, "path length");
    return leaf;
  }
  const k = 2 ** Math.floor(Math.log2(size - 1));
  const [last, rest] = [path.at(-1), path.slice(0, -1)];
  must(last !== undefined, "path length");
  return at < k
    ? sha(Buffer.of(1), pathRoot(leaf, at, k, rest), last!)
    : sha(Buffer.of(1), last!, pathRoot(leaf, at - k, size - k, rest));
}

function checkReceipt(receipt: Json): void {
  const { signature, ...body } = receipt;
  const key = hexOf(String(receipt["kernel_key"]));
  const bytes = Buffer.from(jcs(body));
  const batch = /^ed25519-batch:(\d+)\/(\d+):([0-9a-f]{128}):(.*)$/.exec(String(signature));
  if (batch === null) {
    must(ed25519(key, bytes, hexOf(String(signature))), "receipt signature");
    return;
  }
  must(receipt["allowed"] === true, "blocked in a batch");
  const path = (batch[4]!.match(/.{43}/g) ?? []).map((hash) => Buffer.from(hash, "base64url"));
  const size = Buffer.alloc(4);
  size.writeUInt32BE(Number(batch[2]));
  const root = pathRoot(sha(Buffer.of(0), bytes), Number(batch[1]), Number(batch[2]), path);
  const message = Buffer.concat([Buffer.from("countersign.receipt-batch.v1\0"), size, root]);
  must(ed25519(key, message, Buffer.from(batch[3]!, "hex")), "batch signature");
}

function checkKeys(text: string): Set<string> {
  let previous: { line: string; key: string } | undefined;
  const keys = new Set<string>();
  for (const line of text.split("\n").slice(0, -1)) {
    const { signature, possession, ...body } = JSON.parse(line) as Json;
    const message = Buffer.from(`countersign.key-history.v1\0${jcs(body)}`);
    const own = String(body["key"]);
    const hash = previous && sha(Buffer.from(previous.line)).toString("hex");
    must(body["previous_hash"] === hash, "key chain");
    must(ed25519(hexOf(previous?.key ?? own), message, hexOf(String(signature))), "key signature");
    must(!previous || ed25519(hexOf(own), message, hexOf(String(possession))), "possession");
    previous = { line, key: own };
    keys.add(own);
  }
  return keys;
}

async function audit(directory: string, vkey: string): Promise<number> {
  const file = (path: string) => readFile(join(directory, path));
  const [name = "", id = "", encoded = ""] = /^([^+]+)\+([^+]+)\+(.+)$/.exec(vkey)!.slice(1);
  const material = Buffer.from(encoded, "base64");
  const keyId = sha(Buffer.from(`${name}\n`), material).subarray(0, 4);
  must(keyId.toString("hex") === id && material[0] === 1, "vkey");
  const [text = "", signatures = ""] = (await file("checkpoint")).toString().split("\n\n");
  const [origin, sizeText, rootText] = text.split("\n");
  const [, signer, signature = ""] = /^— (\S+) (\S+)\n$/.exec(signatures) ?? [];
  const blob = Buffer.from(signature, "base64");
  must(origin === name && signer === name && blob.subarray(0, 4).equals(keyId), "origin");
  must(ed25519(material.subarray(1), Buffer.from(`${text}\n`), blob.subarray(4)), "checkpoint");
  const size = Number(sizeText);
  const keys = checkKeys((await file("keys.jsonl")).toString());
  const lines = (await file("receipts.jsonl")).toString().split("\n");
  const leaves: Buffer[] = [];
  for (let at = 0; at < size; at += 256) {
    const number = String(at / 256).padStart(3, "0");
    const suffix = size - at < 256 ? `${number}.p/${size - at}` : number;
    const bundle = await file(`tile/entries/${suffix}`);
    const tile: Buffer[] = [];
    for (let offset = 0; offset < bundle.length;) {
      const end = offset + 2 + bundle.readUInt16BE(offset);
      const bytes = bundle.subarray(offset + 2, end);
      const entry = JSON.parse(bytes.toString()) as { seq: number; receipt: Json };
      must(jcs(entry) === bytes.toString(), "canonical");
      must(entry.seq === at + tile.length, "sequence");
      must(jcs(entry.receipt) === lines[entry.seq], "receipts.jsonl");
      must(keys.has(String(entry.receipt["kernel_key"])), "unknown key");
      checkReceipt(entry.receipt);
      tile.push(sha(Buffer.of(0), bytes));
      offset = end;
    }
    must(Buffer.concat(tile).equals(await file(`tile/0/${suffix}`)), "tile");
    leaves.push(...tile);
  }
  must(leaves.length === size && lines.length === size + 1, "size");
  must(treeRoot(leaves).equals(Buffer.from(rootText ?? "", "base64")), "root");
  return size;
}

let root = "";
let good = "";
const log = await sampleLog(270, { rotateAt: 200, batch: 10 });
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "countersign-audit-"));
  good = join(root, "good");
  await writeExport(good, log);
});
afterAll(async () => {
  await rm(root, { recursive: true, force: true });
});

test("an auditor without our code accepts an export from the written format alone", async () => {
  expect(await audit(good, log.vkey)).toBe(270);
});

test("an auditor without our code refuses an export with one bit changed in any of its files", async () => {
  const files = [
    "checkpoint",
    "keys.jsonl",
    "receipts.jsonl",
    "tile/0/000",
    "tile/entries/001.p/14",
  ];
  for (const path of files) {
    const bad = join(root, `bad-${path.replaceAll("/", "-")}`);
    await cp(good, bad, { recursive: true });
    const bytes = await readFile(join(bad, path));
    bytes[bytes.length >> 1]! ^= 1;
    await writeFile(join(bad, path), bytes);
    await expect(audit(bad, log.vkey)).rejects.toThrow();
  }
});

test("an auditor with another log's key refuses the export", async () => {
  const other = "gw.example.com/log1+f76839f9+AepKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs";
  await expect(audit(good, other)).rejects.toThrow("origin");
});
