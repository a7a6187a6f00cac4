import { expect, test } from "vitest";
import { parseKeyHistory } from "../keys/history.js";
import { sampleEntries, sampleLog, sampleSigner } from "../testing/sample-log.js";
import type { Verification } from "../verify/result.js";
import { verifyBeyond } from "./beyond.js";

const { entries, keys, receiptKeys } = await sampleLog(20, { rotateAt: 10 });
const history = parseKeyHistory(keys);
const [first = "", second = ""] = receiptKeys;
/** What was found in the entries before the checkpoint, all of the first key. */
const covered: Verification = {
  checks: [],
  valid: true,
  signerTrusted: true,
  signers: [{ key: first, role: "receipt", trusted: true }],
};
async function* behind(list: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* list;
}

test("a key that a trusted key handed over to is trusted behind the checkpoint too", async () => {
  const options = { history, trustedKeys: [first.replace("ed25519:", "")] };
  const result = await verifyBeyond(covered, 10, behind(entries.slice(10)), options);
  expect(result).toMatchObject({ valid: true, signerTrusted: true });
  const without = await verifyBeyond(covered, 10, behind(entries.slice(10)), {
    trustedKeys: [first],
  });
  expect(without.signers.at(-1)).toEqual({ key: second, role: "receipt", trusted: false });
});

test("behind the checkpoint a retired or a foreign key signs no entry of the log", async () => {
  for (const [byte, reason] of [
    [7, "the key was retired"],
    [42, "the key is not in the history"],
  ] as const) {
    const list = [...entries.slice(10, 12), ...sampleEntries(12, 13, sampleSigner(byte))];
    const result = await verifyBeyond(covered, 10, behind(list), { history });
    expect(result).toMatchObject({ valid: false, firstBrokenIndex: 12 });
    expect(result.checks.at(-1)?.detail).toContain(reason);
  }
});
