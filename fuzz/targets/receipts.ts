import { canonicalJson, parseJson } from "@countersign/core";
import { decodeCommit, encodeCommit } from "../../packages/receipts/src/bundles/commit-record.js";
import {
  encodeCheckpoint,
  parseCheckpoint,
} from "../../packages/receipts/src/checkpoint/checkpoint.js";
import { decodeCbor, encodeCbor } from "../../packages/receipts/src/cose/cbor.js";
import { decodeKeySet, encodeKeySet } from "../../packages/receipts/src/cose/cose-key.js";
import { decodeManifest, encodeManifest } from "../../packages/receipts/src/cose/manifest.js";
import { decodeCoseReceipt } from "../../packages/receipts/src/cose/receipt.js";
import {
  decodeProtected,
  decodeSign1,
  encodeSign1,
} from "../../packages/receipts/src/cose/sign1.js";
import {
  decodeStatement,
  ENTRY_CONTENT_TYPE,
  STATEMENT_TYPE,
} from "../../packages/receipts/src/cose/statement.js";
import { decodeEnvelope, encodeEnvelope } from "../../packages/receipts/src/dsse/envelope.js";
import {
  decodeRunStatement,
  encodeRunStatement,
} from "../../packages/receipts/src/dsse/run-statement.js";
import { signRunStatement } from "../../packages/receipts/src/export/run-statement.js";
import { createStatementWriter } from "../../packages/receipts/src/export/write-statements.js";
import { decodeRemoved } from "../../packages/receipts/src/bundles/sealed.js";
import { decodeEntry, decodeEntryTexts } from "../../packages/receipts/src/entry/decode-entry.js";
import { encodeEntry } from "../../packages/receipts/src/entry/encode-entry.js";
import { importReceipt } from "../../packages/receipts/src/import/import-foreign.js";
import { encodeKeyRecord, parseKeyHistory } from "../../packages/receipts/src/keys/history.js";
import {
  encodeKeyText,
  encodeSignatureText,
  parseKeyText,
  parseSignatureText,
} from "../../packages/receipts/src/keys/key-text.js";
import { encodeNote, parseNote } from "../../packages/receipts/src/note/note.js";
import { encodeVkey, isNoteName, parseVkey } from "../../packages/receipts/src/note/vkey.js";
import { encodeProof, parseProof } from "../../packages/receipts/src/proof/tlog-proof.js";
import { parseBatchSignature } from "../../packages/receipts/src/receipt/batch-signature.js";
import { encodeReceipt } from "../../packages/receipts/src/receipt/encode-receipt.js";
import { checkReceipts } from "../../packages/receipts/src/stream/check-receipts.js";
import {
  memoryReader,
  sampleFiles,
  sampleLog,
} from "../../packages/receipts/src/testing/sample-log.js";
import {
  numbered,
  statementSource,
} from "../../packages/receipts/src/testing/sample-statements.js";
import { verifyRunStatement } from "../../packages/receipts/src/verify-node/run-statement.js";
import { foreignSample } from "../../packages/receipts/src/testing/foreign-sample.js";
import {
  decodeBundle,
  decodeTile,
  encodeBundle,
  encodeTile,
} from "../../packages/receipts/src/tiles/bundle.js";
import { parseTilePath, tilePath } from "../../packages/receipts/src/tiles/path.js";
import {
  verifyCheckpoint,
  verifyEntry,
  verifyExport,
  verifyProof,
  verifyReceipt,
} from "../../packages/receipts/src/verify/index.js";
import {
  verifyStatement,
  verifyStatements,
} from "../../packages/receipts/src/verify-statements/index.js";
import { attempt, attemptAsync, hold, holdEqual, textOf } from "../engine/target.js";
import type { FuzzTarget } from "../engine/target.js";

const LOG = await sampleLog(5, { rotateAt: 3, batch: 2 });
const FILES = sampleFiles(LOG);
const ENTRIES = LOG.entries.map((bytes) => textOf(bytes));
const RECEIPTS = textOf(FILES.get("receipts.jsonl") ?? new Uint8Array())
  .trimEnd()
  .split("\n");
const SIGNATURES = RECEIPTS.map((line) => (JSON.parse(line) as { signature: string }).signature);
const PROOF = encodeProof({
  index: 1,
  hashes: [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)],
  checkpoint: LOG.checkpoint,
});
const FOREIGN = JSON.stringify(foreignSample({ session_id: "s", agent_id: "a", at: 1 }));
const TRUSTED = new Set(SIGNATURES);
const WRITER = await createStatementWriter(statementSource(LOG));
const STATEMENTS = await Promise.all(numbered(LOG).map((entry) => WRITER.encode(entry)));
const RUN = await signRunStatement(
  statementSource(LOG),
  { run_id: "run_1", thread_id: "thread_1" },
  numbered(LOG),
);
const ENVELOPE = RUN?.envelope ?? "";
const MANIFEST = encodeManifest({
  size: 5,
  root: "0".repeat(64),
  entries: [
    [0, 1],
    [3, 3],
  ],
});
/** Files that make an export of statements once a statement is put among them. */
const STATEMENT_FILES = new Map([...FILES, ["keys.cbor", encodeKeySet([])]]);

/** One text after the other: a mutation of one format reaches the parsers of all. */
function readTexts(text: string): void {
  const checkpoint = attempt(() => parseCheckpoint(text));
  // Reading is laxer about the name than writing: who signed decides, and vkeys have no such name.
  if (checkpoint.ok && isNoteName(checkpoint.value.origin)) {
    const written = encodeCheckpoint(checkpoint.value);
    hold(text.startsWith(written), "a checkpoint begins as it is written");
  }
  const note = attempt(() => parseNote(text));
  if (note.ok) holdEqual(encodeNote(note.value), text, "a note has one spelling");
  const vkey = attempt(() => parseVkey(text));
  if (vkey.ok) holdEqual(encodeVkey(vkey.value), text.trim(), "a vkey has one spelling");
  const proof = attempt(() => parseProof(text));
  if (proof.ok) holdEqual(encodeProof(proof.value), text, "a proof has one spelling");
  const path = attempt(() => parseTilePath(text));
  if (path.ok) holdEqual(tilePath(path.value), text, "a path has one spelling");
  const key = attempt(() => parseKeyText(text));
  if (key.ok) holdEqual(parseKeyText(encodeKeyText(key.value)), key.value, "a key survives");
  const signature = attempt(() => parseSignatureText(text));
  if (signature.ok) {
    holdEqual(
      parseSignatureText(encodeSignatureText(signature.value)),
      signature.value,
      "survives",
    );
  }
  const batch = attempt(() => parseBatchSignature(text));
  if (batch.ok) hold(batch.value.index < batch.value.size, "an index is inside of its group");
  const removed = attempt(() => decodeRemoved(text));
  if (removed.ok && removed.value !== undefined) {
    hold(
      removed.value.first >= removed.value.frontier.size,
      "whole bundles begin at the file or later",
    );
  }
  const history = attempt(() => parseKeyHistory(text));
  if (history.ok) {
    const lines = history.value.map((record) => `${encodeKeyRecord(record)}\n`).join("");
    holdEqual(lines, text, "a history has one spelling");
  }
}

export const RECEIPT_TARGETS: readonly FuzzTarget[] = [
  {
    name: "receipt-texts",
    property: "checkpoints, notes, vkeys, proofs, paths, keys and histories have one spelling each",
    covers: [
      "packages/receipts/src/checkpoint/checkpoint.ts#parseCheckpoint",
      "packages/receipts/src/checkpoint/checkpoint.ts#parseDecimal",
      "packages/receipts/src/note/note.ts#parseNote",
      "packages/receipts/src/note/vkey.ts#parseVkey",
      "packages/receipts/src/proof/tlog-proof.ts#parseProof",
      "packages/receipts/src/tiles/path.ts#parseTilePath",
      "packages/receipts/src/keys/key-text.ts#parseKeyText",
      "packages/receipts/src/keys/key-text.ts#parseSignatureText",
      "packages/receipts/src/keys/history.ts#parseKeyHistory",
      "packages/receipts/src/receipt/batch-signature.ts#parseBatchSignature",
      "packages/receipts/src/receipt/batch-signature.ts#decodePathHash",
      "packages/receipts/src/bundles/sealed.ts#decodeRemoved",
    ],
    dictionary: [
      "— ",
      "\n\n",
      "tile/0/",
      "x001/",
      ".p/12",
      "ed25519:",
      "index ",
      "extra ",
      "+",
      "=\n",
    ],
    seeds: [
      LOG.checkpoint,
      LOG.checkpoint.split("\n\n")[0]?.concat("\n") ?? "",
      LOG.vkey,
      LOG.keys,
      PROOF,
      "tile/entries/x001/x234/067.p/12",
      `${JSON.stringify({ first: 256, size: 1, position: 9, hashes: ["0".repeat(64)] })}\n`,
      ...LOG.receiptKeys,
      ...SIGNATURES,
    ],
    run(input) {
      readTexts(textOf(input));
    },
  },
  {
    name: "receipt-entry",
    property: "an entry has one spelling, and both decoders read the same from it",
    covers: [
      "packages/receipts/src/entry/decode-entry.ts#decodeEntry",
      "packages/receipts/src/entry/decode-entry.ts#decodeEntryTexts",
    ],
    dictionary: ['"receipt":', '"received_at":', '"seq":', '"signature":"', '"rule":"', "\\u0000"],
    seeds: ENTRIES,
    run(input) {
      const entry = attempt(() => decodeEntry(input));
      const texts = attempt(() => decodeEntryTexts(input));
      hold(entry.ok === texts.ok, "both decoders accept the same");
      if (!entry.ok || !texts.ok) return;
      holdEqual(textOf(encodeEntry(entry.value)), textOf(input), "an entry has one spelling");
      holdEqual(
        textOf(texts.value.receiptBytes),
        encodeReceipt(entry.value.receipt),
        "same receipt",
      );
    },
  },
  {
    name: "receipt-bundle",
    property: "a bundle, a tile and a commit record have one spelling",
    covers: [
      "packages/receipts/src/tiles/bundle.ts#decodeBundle",
      "packages/receipts/src/tiles/bundle.ts#decodeTile",
      "packages/receipts/src/bundles/commit-record.ts#decodeCommit",
    ],
    seeds: [
      encodeBundle(LOG.entries.slice(0, 2)),
      encodeTile([new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]),
      encodeCommit(5, new Uint8Array(32).fill(3), new Uint8Array(32).fill(4)),
      encodeCommit(5, new Uint8Array(32).fill(3)),
    ],
    run(input) {
      for (const width of [1, 2, 3]) {
        const bundle = attempt(() => decodeBundle(input, width));
        if (bundle.ok && bundle.value.every((entry) => entry.length > 0)) {
          holdEqual(Array.from(encodeBundle(bundle.value)), Array.from(input), "one spelling");
        }
        const tile = attempt(() => decodeTile(input, width));
        if (tile.ok)
          holdEqual(Array.from(encodeTile(tile.value)), Array.from(input), "one spelling");
      }
      const bytes = Buffer.from(input);
      for (const offset of [0, 1, 7]) {
        const commit = decodeCommit(bytes, offset);
        if (commit === undefined || !Number.isSafeInteger(commit.size)) continue;
        const written = encodeCommit(commit.size, commit.root, commit.seal);
        hold(bytes.subarray(offset, offset + commit.length).equals(written), "one spelling");
      }
    },
  },
  {
    name: "receipt-verify",
    property: "no verifier throws, and none calls a receipt valid that the gateway did not sign",
    covers: [
      "packages/receipts/src/verify/receipt.ts#verifyReceipt",
      "packages/receipts/src/verify/entry.ts#verifyEntry",
      "packages/receipts/src/verify/proof.ts#verifyProof",
      "packages/receipts/src/verify/checkpoint.ts#verifyCheckpoint",
      "packages/receipts/src/verify/bundle.ts#verifyBundle",
      "packages/receipts/src/verify/export.ts#verifyExport",
      "packages/receipts/src/verify/removal.ts#readRemoval",
      "packages/receipts/src/verify/receipts-file.ts#openReceiptsFile",
      "packages/receipts/src/verify/reader.ts#readTileFile",
      "packages/receipts/src/note/verify-note.ts#verifyNote",
      "packages/receipts/src/checkpoint/verify-checkpoint.ts#openCheckpoint",
      "packages/receipts/src/merkle/verify-proof.ts#verifyInclusion",
      "packages/receipts/src/merkle/verify-proof.ts#verifyConsistency",
      "packages/receipts/src/tiles/nodes.ts#createTileNodeReader",
      "packages/receipts/src/import/import-foreign.ts#importReceipt",
    ],
    dictionary: ['"signature":"', '"allowed":true', '"kernel_key":"', "ed25519:", "checkpoint\n"],
    seeds: [
      ...RECEIPTS,
      ...ENTRIES,
      PROOF,
      LOG.checkpoint,
      FOREIGN,
      "keys.jsonl\n",
      "receipts.jsonl\n{}",
      'removed.json\n{"announcement":3,"first":256}',
    ],
    async run(input) {
      const text = textOf(input);
      const trustedKeys = LOG.receiptKeys;
      const receipt = await verifyReceipt(input, { trustedKeys });
      if (receipt.valid) {
        const value = parseJson(input) as { signature: string };
        hold(
          TRUSTED.has(value.signature) || receipt.signerTrusted !== true,
          "a valid trusted receipt is ours",
        );
        hold(
          receipt.signerTrusted !== true || RECEIPTS.includes(canonicalJson(value)),
          "with all it says",
        );
      }
      await verifyEntry(input, { trustedKeys });
      await verifyProof(text, LOG.entries[1] ?? new Uint8Array(), { trustedLogs: [LOG.vkey] });
      await verifyCheckpoint(text, { trustedLogs: [LOG.vkey] });
      // The first line names a file of the export, the rest replaces it.
      const [name = "", ...rest] = text.split("\n");
      const path =
        [...FILES.keys(), "removed.json"].find((one) => one.endsWith(name) && name !== "") ??
        "checkpoint";
      const body = new TextEncoder().encode(rest.join("\n"));
      const exported = await verifyExport(memoryReader(new Map(FILES).set(path, body)), {
        trustedKeys,
        trustedLogs: [LOG.vkey],
      });
      const isSame = textOf(FILES.get(path) ?? new Uint8Array()) === rest.join("\n");
      if (path !== "log.vkey") hold(isSame || !exported.valid, `a changed ${path} shows`);
      const value = attempt(() => parseJson(input));
      if (value.ok) await attemptAsync(() => importReceipt(value.value, "mcp"));
    },
  },
  {
    name: "receipt-statement",
    property:
      "a statement, a key set and a manifest have one spelling, and only a signed one is valid",
    covers: [
      "packages/receipts/src/cose/cbor.ts#decodeCbor",
      "packages/receipts/src/cose/sign1.ts#decodeSign1",
      "packages/receipts/src/cose/sign1.ts#decodeProtected",
      "packages/receipts/src/cose/statement.ts#decodeStatement",
      "packages/receipts/src/cose/receipt.ts#decodeCoseReceipt",
      "packages/receipts/src/cose/cose-key.ts#decodeKeySet",
      "packages/receipts/src/cose/manifest.ts#decodeManifest",
      "packages/receipts/src/verify-statements/statement.ts#verifyStatement",
      "packages/receipts/src/verify-statements/statements.ts#verifyStatements",
      "packages/receipts/src/verify/key-history.ts#readText",
    ],
    dictionary: [
      "\u0018",
      "\u0000",
      "Signature1",
      "run/run_1",
      "tree/5",
      '"seq":1',
      '"entries":[[',
    ],
    seeds: [...STATEMENTS, encodeKeySet([new Uint8Array(32).fill(1)]), MANIFEST],
    async run(input) {
      const item = attempt(() => decodeCbor("the input", input, input.length));
      if (item.ok) holdEqual(Array.from(encodeCbor(item.value)), Array.from(input), "one spelling");
      const signed = attempt(() => decodeSign1("the input", input, input.length));
      if (signed.ok) {
        holdEqual(Array.from(encodeSign1(signed.value)), Array.from(input), "one spelling");
        const expected = { type: STATEMENT_TYPE, contentType: ENTRY_CONTENT_TYPE };
        attempt(() => decodeProtected("the input", signed.value.protectedBytes, expected));
      }
      const statement = attempt(() => decodeStatement(input, ENTRY_CONTENT_TYPE));
      if (statement.ok) {
        const { receipt } = statement.value;
        if (receipt !== undefined) attempt(() => decodeCoseReceipt(receipt));
      }
      attempt(() => decodeCoseReceipt(input));
      const keys = attempt(() => decodeKeySet(input));
      if (keys.ok)
        holdEqual(Array.from(encodeKeySet(keys.value)), Array.from(input), "one spelling");
      const manifest = attempt(() => decodeManifest(input));
      if (manifest.ok)
        holdEqual(textOf(encodeManifest(manifest.value)), textOf(input), "one spelling");
      const trust = { trustedKeys: LOG.receiptKeys, trustedLogs: [LOG.vkey] };
      const { valid } = await verifyStatement(input, trust);
      const isOurs = STATEMENTS.some((bytes) => Buffer.from(bytes).equals(input));
      hold(valid === isOurs, "only a statement that was signed is valid");
      const reader = memoryReader(new Map(STATEMENT_FILES).set("manifest.scitt", input));
      hold(!(await verifyStatements(reader, trust)).valid, "an export has a signed manifest");
    },
  },
  {
    name: "receipt-run-statement",
    property: "a statement about a run has one spelling, and only the signed one is valid",
    covers: [
      "packages/receipts/src/dsse/envelope.ts#decodeEnvelope",
      "packages/receipts/src/dsse/run-statement.ts#decodeRunStatement",
      "packages/receipts/src/verify-node/run-statement.ts#verifyRunStatement",
    ],
    dictionary: ['"payload":"', '"payloadType":"', '"signatures":[', '"sig":"', '"predicate":{'],
    seeds: [ENVELOPE, atob((JSON.parse(ENVELOPE) as { payload: string }).payload)],
    async run(input) {
      const text = textOf(input);
      const envelope = attempt(() => decodeEnvelope(text));
      if (envelope.ok) holdEqual(encodeEnvelope(envelope.value), text.trimEnd(), "one spelling");
      const statement = attempt(() => decodeRunStatement(input));
      if (statement.ok)
        holdEqual(textOf(encodeRunStatement(statement.value)), text, "one spelling");
      const { valid } = await verifyRunStatement(text, { trustedLogs: [LOG.vkey] });
      hold(valid === (text.trimEnd() === ENVELOPE), "only what was signed is valid");
    },
  },
  {
    name: "receipt-stream",
    property: "a receipt beside an event counts only as the gateway signed it, for that event",
    covers: [],
    dictionary: ['"signature":"', '"payload_hash":"', '"event_id":"', '"allowed":true'],
    seeds: RECEIPTS,
    async run(input) {
      const value = attempt(() => parseJson(input));
      if (!value.ok) return;
      const check = checkReceipts({ trustedKeys: LOG.receiptKeys });
      const event = { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "delta 0" };
      const counts = await check(value.value, { event } as never);
      hold(!counts || RECEIPTS.includes(canonicalJson(value.value)), "only what was signed counts");
    },
  },
];
