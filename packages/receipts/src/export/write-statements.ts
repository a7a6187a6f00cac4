import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { encodeHex } from "@countersign/core";
import { encodeKeySet } from "../cose/cose-key.js";
import { createRanges, encodeManifest, MANIFEST_CONTENT_TYPE } from "../cose/manifest.js";
import { encodeCoseReceipt, signRoot, treeSubject } from "../cose/receipt.js";
import type { SignedRoot } from "../cose/receipt.js";
import { encodeStatement, ENTRY_CONTENT_TYPE, entrySubject } from "../cose/statement.js";
import { decodeEntry } from "../entry/decode-entry.js";
import { parseKeyHistory } from "../keys/history.js";
import { encodeKeyText, parseKeyText } from "../keys/key-text.js";
import { leafHash } from "../merkle/hash.js";
import { proveInclusion } from "../merkle/prove.js";
import type { NodeReader } from "../merkle/prove.js";
import { verifyInclusion } from "../merkle/verify-proof.js";
import type { MessageSigner } from "../note/sign-note.js";
import { EXPORT_FILES, statementPath } from "../verify/reader.js";
import { writeDirectory } from "./draft-directory.js";
import { exportError } from "./errors.js";
import type { SignedTreeSource } from "./signed-tree.js";
import { mismatch, openSignedTree } from "./signed-tree.js";
import { statementsReadme } from "./statements-readme.js";
import { syncDirectory, writeDurable } from "./tree-files.js";

/** The log that statements are made from. */
export type StatementSource = SignedTreeSource & {
  /** The content of `keys.jsonl`. */
  readonly keys: string;
  /** Signs statements: the receipt key in use. */
  readonly issuer: MessageSigner;
};

/** An entry to export, with its place in the log. */
export type NumberedEntry = { readonly seq: number; readonly bytes: Uint8Array };

/** Makes the transparent statements of one log at one checkpoint. */
export type StatementWriter = {
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array;
  /** The transparent statement of an entry. */
  encode(entry: NumberedEntry): Promise<Uint8Array<ArrayBuffer>>;
};

/**
 * Prepares statements. The log's key signs exactly one root: that of a checkpoint which it signed
 * before, and which the tiles lead to.
 */
export async function createStatementWriter(source: StatementSource): Promise<StatementWriter> {
  const issuerKey = encodeKeyText(source.issuer.publicKey);
  if (parseKeyHistory(source.keys).at(-1)?.key !== issuerKey) {
    throw exportError("ERR_EXPORT_KEY", "the receipt key is not the newest of the key history", {
      purpose: "receipts",
    });
  }
  const { origin, size, root, read } = await openSignedTree(source);
  const signed = await signRoot({ origin, size, root }, source.log);
  return {
    origin,
    size,
    root,
    encode: (entry) => encodeEntryStatement(entry, { signed, root, read, source, origin }),
  };
}

type Context = {
  readonly signed: SignedRoot;
  readonly root: Uint8Array;
  readonly read: NodeReader;
  readonly source: StatementSource;
  readonly origin: string;
};

async function encodeEntryStatement(
  { seq, bytes }: NumberedEntry,
  { signed, root, read, source, origin }: Context,
): Promise<Uint8Array<ArrayBuffer>> {
  const { size } = signed;
  if (seq >= size) throw mismatch(size, `entry ${seq} is newer`);
  const path = await proveInclusion(seq, size, read);
  if (!verifyInclusion(leafHash(bytes), seq, size, path, root)) {
    throw mismatch(size, `entry ${seq} is not in the tree`);
  }
  const statement = {
    issuer: origin,
    subject: entrySubject(decodeEntry(bytes)),
    contentType: ENTRY_CONTENT_TYPE,
    payload: bytes,
    receipt: encodeCoseReceipt(signed, seq, path),
  };
  return encodeStatement(statement, source.issuer);
}

/** Options of {@link writeStatements}. */
export type WriteStatementsOptions = {
  /** Called about every hundred statements with their number. */
  onProgress?: (done: number) => void;
  /** Aborts the export; nothing of it stays. */
  signal?: AbortSignal;
};

/** Statements that are written at the same time. */
const GROUP = 64;

/** Writes the transparent statements of entries, in ascending order, as a directory for auditors. */
export async function writeStatements(
  directory: string,
  source: StatementSource,
  entries: AsyncIterable<NumberedEntry> | Iterable<NumberedEntry>,
  options: WriteStatementsOptions = {},
): Promise<{ size: number; written: number }> {
  const writer = await createStatementWriter(source);
  const { origin, size, root } = writer;
  const ranges = createRanges();
  let written = 0;
  await writeDirectory(directory, async (draft) => {
    await mkdir(join(draft, EXPORT_FILES.statements));
    let group: NumberedEntry[] = [];
    const flush = async (): Promise<void> => {
      // A file that a power failure cuts is a statement that does not verify: no wait for each one.
      const write = async (entry: NumberedEntry): Promise<void> =>
        writeFile(join(draft, statementPath(entry.seq)), await writer.encode(entry));
      // All of them end before the first failure is thrown: the directory is removed then.
      const results = await Promise.allSettled(group.map(write));
      for (const result of results) if (result.status === "rejected") throw result.reason;
      written += group.length;
      group = [];
      options.onProgress?.(written);
      options.signal?.throwIfAborted();
    };
    for await (const entry of entries) {
      ranges.add(entry.seq);
      group.push(entry);
      if (group.length === GROUP) await flush();
    }
    await flush();
    await syncDirectory(join(draft, EXPORT_FILES.statements));
    const manifest = { size, root: encodeHex(root), entries: ranges.ranges() };
    const statement = {
      issuer: origin,
      subject: treeSubject(size),
      contentType: MANIFEST_CONTENT_TYPE,
      payload: encodeManifest(manifest),
    };
    const keys = parseKeyHistory(source.keys).map(({ key }) => parseKeyText(key));
    const write = (name: string, content: Uint8Array | string): Promise<void> =>
      writeDurable(join(draft, name), content);
    await write(EXPORT_FILES.manifest, await encodeStatement(statement, source.issuer));
    await write(EXPORT_FILES.keySet, encodeKeySet([source.log.publicKey, ...keys]));
    await write(EXPORT_FILES.keys, source.keys);
    await write(EXPORT_FILES.vkey, `${source.vkey.trim()}\n`);
    await write(EXPORT_FILES.checkpoint, source.checkpoint);
    await write(EXPORT_FILES.readme, statementsReadme(manifest, origin, written));
  });
  return { size, written };
}
