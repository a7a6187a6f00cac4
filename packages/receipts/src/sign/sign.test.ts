import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { decodeHex, encodeHex } from "@countersign/core";
import { createSigner, generateKey, importPrivateKey } from "@countersign/core/sign";
import { verifyEd25519 } from "@countersign/core/verify";
import { array, assert, asyncProperty, boolean, string } from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { decodeEntry } from "../entry/decode-entry.js";
import { encodeEntryText } from "../entry/encode-entry.js";
import type { EntryDraft } from "../entry/draft.js";
import { DraftRows } from "../log/draft-rows.js";
import { parseBatchSignature } from "../receipt/batch-signature.js";
import { buildBatch } from "../receipt/build-batch.js";
import { receiptBody } from "../receipt/encode-receipt.js";
import { bundleForNode } from "../testing/bundle.js";
import { withDirectory } from "../testing/directory.js";
import { draftOf } from "../testing/drafts.js";
import { RECEIPTS_PER_ROOT } from "./batch-signatures.js";
import type { SignedGroup, SignMode, SignRequest } from "./group.js";
import type { GroupSigner } from "./group-signer.js";
import { createInThreadSigner } from "./in-thread.js";
import { createSigningPool } from "./pool.js";

let workerFile: URL;
beforeAll(async () => {
  workerFile = await bundleForNode("sign/worker.ts");
});
afterAll(() => rm(workerFile));

const FIRST = 41;

function requestOf(drafts: readonly EntryDraft[], mode: SignMode = "each"): SignRequest {
  const rows = new DraftRows();
  rows.addAll(drafts, 1);
  const singles = drafts.flatMap((draft, index) => (draft.receipt.allowed ? [] : [index]));
  return { ...rows.take(), count: drafts.length, mode, singles, first: FIRST };
}

function entriesOf({ records, places, first }: SignedGroup) {
  let start = 0;
  return Array.from({ length: places.length / 2 }, (_, index) => {
    const end = places[index * 2 + 1]!;
    const entry = decodeEntry(records.subarray(start + 2, end));
    expect(entry.seq).toBe(first + index);
    start = end;
    return entry;
  });
}

function singly(sign: (message: Uint8Array) => Uint8Array, body: Uint8Array): string {
  return `ed25519:${encodeHex(sign(body))}`;
}

const drafts = Array.from({ length: 70 }, (_, number) => draftOf(number));

async function expectValidEach(signer: GroupSigner): Promise<void> {
  const entries = entriesOf(await signer.sign(requestOf(drafts)));
  expect(entries.map((entry) => entry.receipt.event_id)).toEqual(
    drafts.map((draft) => draft.receipt.event_id),
  );
  for (const { receipt } of entries.slice(0, 5)) {
    const key = decodeHex(receipt.kernel_key.slice("ed25519:".length));
    const signature = decodeHex(receipt.signature.slice("ed25519:".length));
    expect(await verifyEd25519(key, receiptBody(receipt), signature)).toBe(true);
  }
}

test("threads and libraries all give the same signatures, because Ed25519 is deterministic", async () => {
  const key = importPrivateKey(new Uint8Array(32).fill(7));
  const signers = await Promise.all([
    createInThreadSigner(key, { library: "node" }),
    createInThreadSigner(key),
    createSigningPool(key, { workers: 2, workerFile }),
    createSigningPool(key, { workers: 1, workerFile, library: "node" }),
    createSigningPool(key),
  ]);
  const groups = await Promise.all(
    signers.map(async (signer) => entriesOf(await signer.sign(requestOf(drafts)))),
  );
  for (const group of groups) expect(group).toEqual(groups[0]);
  await expectValidEach(signers[2]!);
  await Promise.all(signers.map((signer) => signer.close()));
});

test("in batch mode allowed receipts share roots and blocked ones are signed singly", async () => {
  const signer = await createSigningPool(generateKey(), { workers: 1, workerFile });
  const group = await signer.sign(requestOf(drafts, "batch"));
  await signer.close();
  const receipts = entriesOf(group).map((entry) => entry.receipt);
  for (const receipt of receipts) {
    expect(receipt.signature.startsWith("ed25519-batch:")).toBe(receipt.allowed);
  }
  const sizes = receipts
    .filter((receipt) => receipt.allowed)
    .map((receipt) => parseBatchSignature(receipt.signature).size);
  expect(new Set(sizes)).toEqual(new Set([RECEIPTS_PER_ROOT, 60 - RECEIPTS_PER_ROOT]));
});

test.each([2, 3, 5, 31, 32])(
  "a batch of %i equals that of the reference implementation",
  async (size) => {
    const key = importPrivateKey(new Uint8Array(32).fill(7));
    const signer = await createInThreadSigner(key);
    const allowed = drafts.filter((draft) => draft.receipt.allowed).slice(0, size);
    const group = await signer.sign(requestOf(allowed, "batch"));
    const receipts = entriesOf(group).map((entry) => entry.receipt);
    const expected = buildBatch(receipts.map(receiptBody), createSigner(key).sign);
    expect(receipts.map((receipt) => receipt.signature)).toEqual(expected);
  },
);

test("with blocked receipts between them, allowed receipts get the reference's signatures in order", async () => {
  const key = importPrivateKey(new Uint8Array(32).fill(7));
  const signer = await createInThreadSigner(key);
  const { sign } = createSigner(key);
  await assert(
    asyncProperty(array(boolean(), { minLength: 1, maxLength: 100 }), async (verdicts) => {
      const mixed = verdicts.map((allowed, number): EntryDraft => {
        const { receipt, ...rest } = draftOf(number);
        const { denial_reason: _, ...members } = receipt;
        const verdict = allowed ? { allowed } : { allowed, denial_reason: "no" };
        return { ...rest, receipt: { ...members, ...verdict } } as EntryDraft;
      });
      const group = await signer.sign(requestOf(mixed, "batch"));
      const receipts = entriesOf(group).map((entry) => entry.receipt);
      const together = receipts.filter((receipt) => receipt.allowed);
      const expected = together.flatMap((_, at) => {
        if (at % RECEIPTS_PER_ROOT !== 0) return [];
        const batch = together.slice(at, at + RECEIPTS_PER_ROOT).map(receiptBody);
        return batch.length === 1 ? [singly(sign, batch[0]!)] : buildBatch(batch, sign);
      });
      expect(together.map((receipt) => receipt.signature)).toEqual(expected);
      const blocked = receipts.filter((receipt) => !receipt.allowed);
      expect(blocked.map((receipt) => receipt.signature)).toEqual(
        blocked.map((receipt) => singly(sign, receiptBody(receipt))),
      );
    }),
    { numRuns: 20 },
  );
});

test("a group larger than the signing buffer is signed like its drafts alone", async () => {
  const signer = await createInThreadSigner(generateKey());
  const large = drafts.map((draft, number) => ({ ...draft, run_id: "é".repeat(number * 400) }));
  const together = entriesOf(await signer.sign(requestOf(large)));
  const alone = await Promise.all(large.map((draft) => signer.sign(requestOf([draft]))));
  expect(together.map((entry) => entry.receipt)).toEqual(
    alone.map((group) => entriesOf(group)[0]?.receipt),
  );
  expect(together.map((entry) => entry.run_id)).toEqual(large.map((draft) => draft.run_id));
});

test("a group that cannot be signed is rejected and the thread continues", async () => {
  const signer = await createSigningPool(generateKey(), { workers: 1, workerFile });
  const broken = { ...requestOf(drafts), count: 71 };
  await expect(signer.sign(broken)).rejects.toMatchObject({
    code: "ERR_SIGN_WORKER",
    facts: { reason: "failed" },
  });
  await expectValidEach(signer);
  await signer.close();
});

test("a thread that dies rejects its groups and is replaced", async () => {
  await withDirectory(async (directory) => {
    const fragile = join(directory, "fragile.mjs");
    await writeFile(
      fragile,
      `import { parentPort } from "node:worker_threads";
       parentPort.on("message", (request) => { if (request.count === 13) process.exit(1); });
       await import(${JSON.stringify(workerFile.href)});`,
    );
    const signer = await createSigningPool(generateKey(), {
      workers: 1,
      workerFile: pathToFileURL(fragile),
    });
    const fatal = requestOf(drafts.slice(0, 13));
    await expect(signer.sign(fatal)).rejects.toMatchObject({
      code: "ERR_SIGN_WORKER",
      facts: { reason: "crashed" },
    });
    await expectValidEach(signer);
    await signer.close();
  });
});

test("closing rejects groups in progress and all later ones", async () => {
  const signer = await createSigningPool(generateKey(), { workers: 1, workerFile });
  const request = requestOf(drafts);
  const underWay = signer.sign(request).then(
    () => "signed",
    (error: { code: string }) => error.code,
  );
  await signer.close();
  expect(["signed", "ERR_SIGN_CLOSED"]).toContain(await underWay);
  await expect(signer.sign(requestOf(drafts))).rejects.toMatchObject({
    code: "ERR_SIGN_CLOSED",
  });
});

test("a signer that cannot start rejects instead of hanging", async () => {
  await expect(
    createSigningPool(generateKey(), {
      workers: 1,
      workerFile: new URL("group.ts", import.meta.url),
    }),
  ).rejects.toMatchObject({ code: "ERR_SIGN_WORKER", facts: { reason: "not-started" } });
});

test("for any texts the assembled entry is the canonical encoding of the entry", async () => {
  const signer = await createInThreadSigner(generateKey());
  const text = string({ unit: "binary", maxLength: 30 }).filter(
    (value) => !/\p{Surrogate}/u.test(value),
  );
  await assert(
    asyncProperty(text, text, text, boolean(), async (one, two, three, allowed) => {
      const base = draftOf(2, { run_id: one, rule: two, emitted_hash: "ab".repeat(32) });
      const draft: EntryDraft = {
        ...base,
        receipt: {
          ...base.receipt,
          allowed,
          event_id: `e${one}`,
          agent_id: `a${two}`,
          event_type: { custom: three },
          target: { component_type: three },
          ...(allowed ? {} : { denial_reason: two }),
        },
      };
      const group = await signer.sign(requestOf([draft]));
      const bytes = Buffer.from(group.records.subarray(2)).toString();
      const value = JSON.parse(bytes) as ReturnType<typeof decodeEntry>;
      expect(value).toMatchObject({ ...draft, seq: FIRST });
      expect(encodeEntryText(value)).toBe(bytes);
    }),
    { numRuns: 100 },
  );
});
