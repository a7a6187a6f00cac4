import type { JsonObject } from "@countersign/core";
import type { Signer } from "@countersign/core/sign";
import { createSigner, importPrivateKey } from "@countersign/core/sign";
import { signCheckpoint } from "../checkpoint/sign-checkpoint.js";
import { encodeEntry } from "../entry/encode-entry.js";
import type { LogEntry } from "../entry/entry.js";
import type { KeyRecord } from "../keys/history.js";
import { encodeKeyRecord } from "../keys/history.js";
import { encodeKeyText, encodeSignatureText } from "../keys/key-text.js";
import { extendKeyHistory, startKeyHistory } from "../keys/rotate.js";
import { leafHash, rootOfLevel } from "../merkle/hash.js";
import { createNoteKey, encodeVkey } from "../note/vkey.js";
import { buildBatch } from "../receipt/build-batch.js";
import { receiptBody } from "../receipt/encode-receipt.js";
import { payloadHash } from "../receipt/payload.js";
import type { AgUiReceiptBody } from "../receipt/receipt.js";
import { NO_CAPABILITY } from "../receipt/receipt.js";
import { encodeBundle, encodeTile } from "../tiles/bundle.js";
import { createTileBuilder } from "../tiles/build.js";
import { entriesPath, TILE_WIDTH, tilePath } from "../tiles/path.js";
import type { ExportReader } from "../verify/reader.js";

/** A signer from a seed of one repeated byte. */
export function sampleSigner(byte: number): Signer {
  return createSigner(importPrivateKey(new Uint8Array(32).fill(byte)));
}

/** A small log with all parts of an export. */
export type SampleLog = {
  entries: Uint8Array[];
  checkpoint: string;
  vkey: string;
  keys: string;
  receiptKeys: string[];
};

export const SAMPLE_ORIGIN = "gw.example.com/sample";

/** The event of one sample entry. */
export function sampleEvent(index: number): JsonObject {
  return { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: `delta ${index}` };
}

/** The receipt body of one sample entry; every seventh event is blocked. */
export function sampleBody(index: number, signer: Signer): AgUiReceiptBody {
  const isAllowed = index % 7 !== 3;
  return {
    id: `agui-evt_${index}`,
    timestamp: 1_744_993_928 + index,
    event_id: `evt_${index}`,
    agent_id: "agent-support",
    session_id: "sess_1",
    capability_id: NO_CAPABILITY,
    event_type: "text_stream",
    target: { component_type: "chat", component_id: "main" },
    classification: "display",
    transport: "sse",
    allowed: isAllowed,
    ...(isAllowed ? {} : { denial_reason: "no capability token provided" }),
    payload_hash: payloadHash(sampleEvent(index)),
    kernel_key: encodeKeyText(signer.publicKey),
  };
}

function wrap(index: number, body: AgUiReceiptBody, signature: string): Uint8Array {
  const entry: LogEntry = {
    seq: index,
    receipt: { ...body, signature },
    direction: "outbound",
    run_id: "run_1",
    thread_id: "thread_1",
    policy_hash: "00".repeat(32),
    mode: "enforce",
    received_at: 1_744_993_928_000 + index,
    // Entries of older versions have none of these members.
    ...(index % 2 === 0 ? {} : { principal: "bob", client_address: "192.0.2.7" }),
    ...(index % 3 === 0 ? {} : { tool: "send_mail" }),
    ...(body.allowed ? {} : { path: "/links/0" }),
  };
  return encodeEntry(entry);
}

/** Entries `from` to `to`; allowed ones share batch signatures when `batch` is their group size. */
export function sampleEntries(from: number, to: number, signer: Signer, batch = 0): Uint8Array[] {
  const bodies = Array.from({ length: to - from }, (_, at) => sampleBody(from + at, signer));
  const signatures = new Map<AgUiReceiptBody, string>();
  const grouped = batch > 0 ? bodies.filter(({ allowed }) => allowed) : [];
  for (let at = 0; at < grouped.length; at += batch) {
    const group = grouped.slice(at, at + batch);
    const texts = buildBatch(group.map(receiptBody), (message) => signer.sign(message));
    for (const [index, body] of group.entries()) signatures.set(body, texts[index] ?? "");
  }
  return bodies.map((body, at) => {
    const single = () => encodeSignatureText(signer.sign(receiptBody(body)));
    return wrap(from + at, body, signatures.get(body) ?? single());
  });
}

/** Signs a checkpoint over entries. */
export async function sampleCheckpoint(entries: readonly Uint8Array[]): Promise<string> {
  const root = rootOfLevel(entries.map(leafHash));
  return signCheckpoint({ origin: SAMPLE_ORIGIN, size: entries.length, root }, sampleSigner(9));
}

/** A log of `count` entries whose key is rotated at `rotateAt`. */
export async function sampleLog(
  count: number,
  options: { rotateAt?: number; batch?: number } = {},
): Promise<SampleLog> {
  const { rotateAt = count, batch = 0 } = options;
  const [old, next] = [sampleSigner(7), sampleSigner(8)];
  const entries = [
    ...sampleEntries(0, rotateAt, old, batch),
    ...sampleEntries(rotateAt, count, next, batch),
  ];
  const first = await startKeyHistory(old, { createdAt: 1, firstEntry: 0 });
  const records: KeyRecord[] = [first];
  if (rotateAt < count) {
    const facts = { createdAt: 2, firstEntry: rotateAt, retires: [old.publicKey] };
    records.push(await extendKeyHistory(first, old, next, facts));
  }
  return {
    entries,
    checkpoint: await sampleCheckpoint(entries),
    vkey: encodeVkey(createNoteKey(SAMPLE_ORIGIN, sampleSigner(9).publicKey)),
    keys: records.map((record) => `${encodeKeyRecord(record)}\n`).join(""),
    receiptKeys: records.map(({ key }) => key),
  };
}

/** The files of an export, in memory. */
export function sampleFiles(log: SampleLog): Map<string, Uint8Array> {
  const text = (value: string) => new TextEncoder().encode(value);
  const files = new Map<string, Uint8Array>([
    ["checkpoint", text(log.checkpoint)],
    ["log.vkey", text(`${log.vkey}\n`)],
    ["keys.jsonl", text(log.keys)],
  ]);
  for (const [path, bytes] of treeFiles(log.entries)) files.set(path, bytes);
  const lines = log.entries.map((bytes) => {
    const { receipt } = JSON.parse(new TextDecoder().decode(bytes)) as LogEntry;
    return `${JSON.stringify(receipt)}\n`;
  });
  return files.set("receipts.jsonl", text(lines.join("")));
}

/** The bundles and tiles of entries. */
export function treeFiles(entries: readonly Uint8Array[]): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  const tiles = createTileBuilder();
  for (const entry of entries) {
    for (const tile of tiles.append(leafHash(entry))) {
      files.set(tilePath(tile), encodeTile(tile.hashes));
    }
  }
  for (const tile of tiles.partials()) files.set(tilePath(tile), encodeTile(tile.hashes));
  for (let at = 0; at < entries.length; at += TILE_WIDTH) {
    const group = entries.slice(at, at + TILE_WIDTH);
    files.set(entriesPath(at / TILE_WIDTH, group.length), encodeBundle(group));
  }
  return files;
}

/** Reads files in memory, streaming them in small pieces. */
export function memoryReader(files: ReadonlyMap<string, Uint8Array>): ExportReader {
  return {
    read: async (path) => files.get(path),
    stream: async (path) => {
      const bytes = files.get(path);
      if (bytes === undefined) return undefined;
      return (async function* pieces() {
        for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
      })();
    },
  };
}
