import { expect, test } from "vitest";
import { decodeEntry } from "../entry/decode-entry.js";
import { encodeEntry } from "../entry/encode-entry.js";
import { parseKeyHistory } from "../keys/history.js";
import { sampleEntries, sampleLog, sampleSigner } from "../testing/sample-log.js";
import { FINGERPRINT_WORDS, writeFingerprint } from "../verify/receipt-fingerprint.js";
import type { Verification } from "../verify/result.js";
import { verifyTail } from "./verify-tail.js";
import { createFileDuplicateFinder } from "./file-duplicates.js";

const { entries, keys, receiptKeys } = await sampleLog(20, { rotateAt: 10 });
const history = parseKeyHistory(keys);
const [first = "", second = ""] = receiptKeys;
/** The verification of the entries before the checkpoint, all of the first key. */
const covered: Verification = {
  checks: [],
  valid: true,
  signerTrusted: true,
  signers: [{ key: first, role: "receipt", trusted: true }],
};
async function* behind(list: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* list;
}

test("a key that a trusted key rotated to is trusted after the checkpoint too", async () => {
  const options = { history, trustedKeys: [first.replace("ed25519:", "")] };
  const result = await verifyTail(covered, 10, behind(entries.slice(10)), options);
  expect(result).toMatchObject({ valid: true, signerTrusted: true });
  const without = await verifyTail(covered, 10, behind(entries.slice(10)), {
    trustedKeys: [first],
  });
  expect(without.signers.at(-1)).toEqual({ key: second, role: "receipt", trusted: false });
});

test("a repeated receipt after the checkpoint is found, also one from before it", async () => {
  const again = (of: number, seq: number): Uint8Array =>
    encodeEntry({ ...decodeEntry(entries[of]!), seq });
  const [last, before] = [again(11, 12), again(3, 12)];
  const tail = entries.slice(10, 12);
  const repeated = await verifyTail(covered, 10, behind([...tail, last]));
  expect(repeated).toMatchObject({ valid: false, firstBrokenIndex: 12 });
  const duplicates = createFileDuplicateFinder();
  for (const [index, bytes] of entries.slice(0, 10).entries()) {
    const fingerprints = new Uint32Array(FINGERPRINT_WORDS);
    writeFingerprint(decodeEntry(bytes).receipt.signature, fingerprints, 0);
    await duplicates.add(index, fingerprints);
  }
  const known = await verifyTail(covered, 10, behind([...tail, before]), { duplicates });
  expect(known.checks.at(-1)).toMatchObject({ id: "receipt-once", index: 12 });
  expect(known.checks.at(-1)?.detail).toContain("the receipt of entry 3");
});

test("an entry of a retired or foreign key after the checkpoint is refused", async () => {
  for (const [byte, reason] of [
    [7, "the key was retired"],
    [42, "the key is not in the history"],
  ] as const) {
    const list = [...entries.slice(10, 12), ...sampleEntries(12, 13, sampleSigner(byte))];
    const result = await verifyTail(covered, 10, behind(list), { history });
    expect(result).toMatchObject({ valid: false, firstBrokenIndex: 12 });
    expect(result.checks.at(-1)?.detail).toContain(reason);
  }
});
