import { expect, test } from "vitest";
import { decodeEntry } from "../entry/decode-entry.js";
import { encodeEntry } from "../entry/encode-entry.js";
import { signCheckpoint } from "../checkpoint/sign-checkpoint.js";
import { encodeKeyText } from "../keys/key-text.js";
import { buildBatch } from "../receipt/build-batch.js";
import { receiptBody } from "../receipt/encode-receipt.js";
import type { SampleLog } from "../testing/sample-log.js";
import {
  memoryReader,
  SAMPLE_ORIGIN,
  sampleBody,
  sampleCheckpoint,
  sampleEntries,
  sampleFiles,
  sampleLog,
  sampleSigner,
  treeFiles,
} from "../testing/sample-log.js";
import { encodeBundle } from "../tiles/bundle.js";
import type { ExportOptions } from "./export.js";
import { verifyExport } from "./export.js";
import type { ExportReader } from "./reader.js";
import type { Verification } from "./result.js";

const COUNT = 600;
const log = await sampleLog(COUNT, { rotateAt: 300, batch: 16 });
const text = (value: string) => new TextEncoder().encode(value);

function change(files: Map<string, Uint8Array>, path: string, edit: (bytes: Uint8Array) => void) {
  const bytes = files.get(path)?.slice();
  if (bytes === undefined) throw new Error(`no ${path}`);
  edit(bytes);
  files.set(path, bytes);
}

const verify = (files: Map<string, Uint8Array>, options?: ExportOptions) =>
  verifyExport(memoryReader(files), options);
const failures = (result: Verification) =>
  result.checks.filter(({ status }) => status === "failed").map(({ id }) => id);

/** An attacker who can recompute everything but the signatures. */
function rewritten(entries: Uint8Array[], from: SampleLog = log): Map<string, Uint8Array> {
  return new Map([
    ...sampleFiles({ ...from, entries }),
    ...treeFiles(entries),
    ["checkpoint", text(from.checkpoint)] as const,
  ]);
}

test("a receipt copied into a second entry is found, even if the log's own key signed it", async () => {
  const entries = [...log.entries];
  const again = decodeEntry(entries[302]!);
  const at = entries.length;
  entries.push(encodeEntry({ ...again, seq: at, run_id: "run_other" }));
  const checkpoint = await sampleCheckpoint(entries);
  const result = await verify(rewritten(entries, { ...log, checkpoint }));
  expect(failures(result)).toContain("receipt-once");
  expect(result.checks.find(({ id }) => id === "receipt-once")).toMatchObject({
    index: at,
    detail: `1 of ${at + 1} entries; first at ${at}: the receipt of entry 302`,
  });
});

test("a complete export passes every check, with a rotated key and both kinds of signature", async () => {
  const progress: number[] = [];
  const result = await verify(sampleFiles(log), {
    trustedKeys: [log.receiptKeys[0]!],
    trustedLogs: [log.vkey],
    onProgress: (done) => progress.push(done),
  });
  expect(result.checks.filter(({ status }) => status !== "held").map(({ id }) => id)).toEqual([
    "checkpoint-consistency",
  ]);
  expect(result).toMatchObject({ valid: true, signerTrusted: true });
  expect(result.firstBrokenIndex).toBeUndefined();
  expect(progress).toEqual([256, 512, 600]);
});

test("an empty log is valid", async () => {
  const empty = await sampleLog(0);
  expect(await verify(sampleFiles(empty))).toMatchObject({ valid: true, signerTrusted: null });
});

test("validity does not depend on trust: no list, a wrong log key, a later receipt key", async () => {
  const files = sampleFiles(log);
  expect(await verify(files)).toMatchObject({ valid: true, signerTrusted: null });
  const onlyLater = { trustedKeys: [log.receiptKeys[1]!], trustedLogs: [log.vkey] };
  expect(await verify(files, onlyLater)).toMatchObject({ valid: true, signerTrusted: false });
  const noLog = { trustedKeys: log.receiptKeys, trustedLogs: [] };
  expect(await verify(files, noLog)).toMatchObject({ valid: true, signerTrusted: false });
});

test("one flipped bit in an entry is found at its index", async () => {
  for (const [bundle, path] of [
    [0, "tile/entries/000"],
    [1, "tile/entries/001"],
    [2, "tile/entries/002.p/88"],
  ] as const) {
    for (const offset of [0, 1, 40, 87]) {
      const files = sampleFiles(log);
      const at = bundle * 256 + offset;
      const before = encodeBundle(log.entries.slice(bundle * 256, at + 1)).length;
      change(files, path, (bytes) => {
        bytes[before - 20]! ^= 1;
      });
      const result = await verify(files);
      expect(result).toMatchObject({ valid: false, firstBrokenIndex: at });
      expect(failures(result)).toContain("leaf-tiles");
      expect(failures(result)).toContain("tree-root");
    }
  }
});

test("one flipped bit in a leaf tile is found at its index", async () => {
  const files = sampleFiles(log);
  change(files, "tile/0/001", (bytes) => {
    bytes[32 * 17 + 3]! ^= 1;
  });
  const result = await verify(files);
  expect(result.firstBrokenIndex).toBe(256 + 17);
  expect(failures(result)).toEqual(["leaf-tiles"]);
});

test("one flipped bit in an upper tile is found at the entries it covers", async () => {
  const files = sampleFiles(log);
  change(files, "tile/1/000.p/2", (bytes) => {
    bytes[32 + 5]! ^= 1;
  });
  const result = await verify(files);
  expect(result.firstBrokenIndex).toBe(256);
  expect(failures(result)).toEqual(["upper-tiles"]);
});

test("a deleted entry is found where it was, even when all tiles are recomputed", async () => {
  const entries = log.entries.toSpliced(321, 1);
  const result = await verify(rewritten([...entries, log.entries[0]!]));
  expect(result).toMatchObject({ valid: false, firstBrokenIndex: 321 });
  expect(failures(result)).toContain("entry-sequence");
  const files = sampleFiles(log);
  files.set("tile/entries/001", encodeBundle(log.entries.slice(256, 512).toSpliced(65, 1)));
  expect(await verify(files)).toMatchObject({ valid: false, firstBrokenIndex: 321 });
});

test("a swapped pair is found at the first of the two, even when all tiles are recomputed", async () => {
  const entries = [...log.entries];
  [entries[130], entries[131]] = [entries[131]!, entries[130]!];
  const result = await verify(rewritten(entries));
  expect(result).toMatchObject({ valid: false, firstBrokenIndex: 130 });
  expect(failures(result)).toEqual(expect.arrayContaining(["entry-sequence", "tree-root"]));
});

test("a truncated tail is found at the first missing entry", async () => {
  const cut = sampleFiles(log);
  change(cut, "tile/entries/002.p/88", () => {});
  cut.set("tile/entries/002.p/88", encodeBundle(log.entries.slice(512, 590)));
  expect(await verify(cut)).toMatchObject({ valid: false, firstBrokenIndex: 590 });
  const torn = sampleFiles(log);
  torn.set("tile/entries/002.p/88", torn.get("tile/entries/002.p/88")!.slice(0, -1));
  expect(await verify(torn)).toMatchObject({ valid: false, firstBrokenIndex: 599 });
  const missing = sampleFiles(log);
  missing.delete("tile/entries/002.p/88");
  expect(await verify(missing)).toMatchObject({ valid: false, firstBrokenIndex: 512 });
  const shorter = rewritten(log.entries.slice(0, 512));
  expect(await verify(shorter)).toMatchObject({ valid: false, firstBrokenIndex: 512 });
});

test("a missing bundle in the middle is named and the rest is still checked", async () => {
  const files = sampleFiles(log);
  files.delete("tile/entries/001");
  const result = await verify(files);
  expect(result).toMatchObject({ valid: false, firstBrokenIndex: 256 });
  expect(result.checks.find(({ id }) => id === "tree-root")?.status).toBe("skipped");
  expect(result.checks.find(({ id }) => id === "receipt-signature")?.detail).toBe("344 entries");
});

test("a changed wrapper around an untouched receipt is found through the tree", async () => {
  const entry = new TextDecoder().decode(log.entries[200]);
  const changed = text(entry.replace('"mode":"enforce"', '"mode":"observe"'));
  const entries = log.entries.with(200, changed);
  const files = sampleFiles(log);
  files.set("tile/entries/000", encodeBundle(entries.slice(0, 256)));
  expect(await verify(files)).toMatchObject({ firstBrokenIndex: 200 });
  expect(failures(await verify(rewritten(entries)))).toEqual(["tree-root"]);
});

test("a root line, signature or origin of a checkpoint that was changed is found", async () => {
  const lines = log.checkpoint.split("\n");
  const other = await sampleLog(3);
  const forged = [
    lines.with(1, "601").join("\n"),
    lines.with(2, `A${lines[2]!.slice(1)}`).join("\n"),
    lines.with(0, "gw.example.com/other").join("\n"),
    log.checkpoint.replace(/[A-Za-z]=?=?\n$/, "A\n"),
  ];
  for (const checkpoint of forged) {
    const result = await verify(sampleFiles(log).set("checkpoint", text(checkpoint)));
    expect(failures(result).some((id) => id.startsWith("checkpoint-"))).toBe(true);
  }
  const swapped = await verify(sampleFiles(log).set("checkpoint", text(other.checkpoint)));
  expect(swapped.valid).toBe(false);
  const gone = sampleFiles(log);
  gone.delete("checkpoint");
  expect(failures(await verify(gone))).toEqual(["checkpoint-format"]);
  const noKey = sampleFiles(log);
  noKey.delete("log.vkey");
  expect(failures(await verify(noKey))).toEqual(["checkpoint-signature"]);
  expect((await verify(noKey, { trustedLogs: [log.vkey] })).valid).toBe(true);
});

test("a partial tile of the wrong width is refused", async () => {
  const files = sampleFiles(log);
  files.set("tile/0/002.p/88", files.get("tile/0/002.p/88")!.slice(32));
  const result = await verify(files);
  expect(result).toMatchObject({ valid: false, firstBrokenIndex: 512 });
});

test("an older checkpoint still verifies at its own size among newer tiles", async () => {
  const larger = await sampleLog(COUNT, { rotateAt: 300 });
  const older = larger.entries.slice(0, 400);
  const files = new Map([...treeFiles(older), ...sampleFiles(larger)]);
  // Partial tiles may be deleted once the full tile exists.
  for (const kind of ["0", "entries"]) files.delete(`tile/${kind}/001.p/144`);
  files.set("checkpoint", text(await sampleCheckpoint(older)));
  const receipts = new TextDecoder().decode(files.get("receipts.jsonl")).split("\n").slice(0, 400);
  files.set("receipts.jsonl", text(`${receipts.join("\n")}\n`));
  expect(await verify(files)).toMatchObject({ valid: true });
});

test("a line of receipts.jsonl that was changed, dropped or added is named", async () => {
  const lines = new TextDecoder().decode(sampleFiles(log).get("receipts.jsonl")).split("\n");
  const file = async (changed: string[]) => {
    const result = await verify(sampleFiles(log).set("receipts.jsonl", text(changed.join("\n"))));
    expect(failures(result)).toEqual(["receipts-file"]);
    return result.firstBrokenIndex;
  };
  expect(await file(lines.with(417, lines[416]!))).toBe(417);
  expect(await file(lines.toSpliced(300, 1))).toBe(300);
  expect(await file(lines.slice(0, 590))).toBe(589);
  expect(await file([...lines.slice(0, -1), lines[0]!, ""])).toBe(600);
  expect(await file(lines.with(10, "x".repeat(70_000)))).toBe(10);
  const without = sampleFiles(log);
  without.delete("receipts.jsonl");
  expect(await verify(without)).toMatchObject({ valid: true });
});

test("an entry signed with an unknown, retired or future key is named", async () => {
  const signers = [7, 8, 66].map(sampleSigner);
  const [old, next, unknown] = signers as [
    (typeof signers)[0],
    (typeof signers)[0],
    (typeof signers)[0],
  ];
  const attempts = [
    [unknown, 100],
    [old, 450],
    [next, 100],
  ] as const;
  for (const [signer, at] of attempts) {
    const entries = log.entries.with(at, sampleEntries(at, at + 1, signer)[0]!);
    const files = rewritten(entries, { ...log, checkpoint: await sampleCheckpoint(entries) });
    const result = await verify(files, { trustedKeys: [encodeKeyText(old.publicKey)] });
    expect(failures(result)).toEqual(["entry-key"]);
    expect(result.firstBrokenIndex).toBe(at);
    expect(result.signerTrusted).toBe(signer === unknown ? false : null);
  }
});

test("a broken or missing key history is reported and the entries are still checked", async () => {
  const files = sampleFiles(log);
  files.delete("keys.jsonl");
  expect(failures(await verify(files))).toEqual(["key-history"]);
  const lines = log.keys.split("\n");
  expect(failures(await verify(sampleFiles(log).set("keys.jsonl", text(`${lines[1]}\n`))))).toEqual(
    ["key-history"],
  );
  expect(failures(await verify(sampleFiles(log).set("keys.jsonl", text("{}\n"))))).toEqual([
    "key-history",
  ]);
});

test("a signature that was replaced is found by signature check and by tree", async () => {
  const entry = new TextDecoder().decode(log.entries[3]);
  const changed = text(entry.replace(/ed25519:[0-9a-f]{128}/, `ed25519:${"00".repeat(64)}`));
  const files = rewritten(log.entries.with(3, changed));
  const result = await verify(files);
  expect(failures(result)).toEqual(["receipt-signature", "tree-root"]);
  expect(result.firstBrokenIndex).toBe(3);
});

test("a reader that cannot read rejects instead of calling the export invalid", async () => {
  const reader = memoryReader(sampleFiles(log));
  const broken = {
    ...reader,
    read: async (path: string, maxBytes: number) => {
      if (path === "tile/entries/001") throw new Error("disk on fire");
      return reader.read(path, maxBytes);
    },
  };
  await expect(verifyExport(broken)).rejects.toThrow("disk on fire");
});

test("a signed size far beyond the files is answered at once, with the first missing entry", async () => {
  for (const size of [Number.MAX_SAFE_INTEGER, 2 ** 40, 600 + 17 * 256]) {
    const checkpoint = { origin: SAMPLE_ORIGIN, size, root: new Uint8Array(32) };
    const files = sampleFiles(log);
    files.set("checkpoint", text(await signCheckpoint(checkpoint, sampleSigner(9))));
    const result = await verify(files);
    expect(result).toMatchObject({ valid: false, firstBrokenIndex: 512 });
    expect(failures(result)).toContain("entries-complete");
    expect(result.checks.at(-1)).toMatchObject({ id: "tree-root", status: "skipped" });
  }
});

test("an export in which links give one bundle the names of endlessly many is answered at once", async () => {
  const size = 2 ** 50;
  const checkpoint = await signCheckpoint(
    { origin: SAMPLE_ORIGIN, size, root: new Uint8Array(32) },
    sampleSigner(9),
  );
  const known = sampleFiles(log);
  known.set("checkpoint", new TextEncoder().encode(checkpoint));
  known.delete("receipts.jsonl");
  let asked = 0;
  const reader: ExportReader = {
    ...memoryReader(known),
    async read(path) {
      asked += 1;
      const bundle = path.startsWith("tile/entries/") ? known.get("tile/entries/000") : undefined;
      return bundle ?? known.get(path.startsWith("tile/0/") ? "tile/0/000" : path);
    },
  };
  const result = await verifyExport(reader);
  expect(result).toMatchObject({ valid: false, firstBrokenIndex: 256 });
  expect(asked).toBeLessThan(100);
});

test("a blocked event that shares a signature is reported, even if that signature is valid", async () => {
  const signer = sampleSigner(7);
  const blocked = sampleBody(3, signer);
  expect(blocked.allowed).toBe(false);
  const group = [blocked, sampleBody(4, signer)].map(receiptBody);
  const [signature = ""] = buildBatch(group, (message) => signer.sign(message));
  const entries = log.entries.with(
    3,
    encodeEntry({ ...decodeEntry(log.entries[3]!), receipt: { ...blocked, signature } }),
  );
  const checkpoint = await sampleCheckpoint(entries);
  const result = await verify(rewritten(entries, { ...log, entries, checkpoint }));
  expect(failures(result)).toEqual(["deny-signed-singly"]);
  expect(result.firstBrokenIndex).toBe(3);
});
