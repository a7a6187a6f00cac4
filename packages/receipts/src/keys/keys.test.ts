import { isCountersignError } from "@countersign/core";
import { createSigner, generateKey } from "@countersign/core/sign";
import { verifyEd25519 } from "@countersign/core/verify";
import { expect, test } from "vitest";
import type { KeyRecord } from "./history.js";
import { encodeKeyRecord, keyRecordHash, keyRecordMessage, parseKeyHistory } from "./history.js";
import {
  encodeKeyText,
  encodeSignatureText,
  parseKeyText,
  parseSignatureText,
} from "./key-text.js";
import { extendKeyHistory, startKeyHistory } from "./rotate.js";
import { findBrokenRecord, keyFault, keyPeriods, trustedThroughHistory } from "./verify-history.js";

const signers = [0, 1, 2].map(() => createSigner(generateKey()));
const [first, second, third] = signers as [
  (typeof signers)[0],
  (typeof signers)[0],
  (typeof signers)[0],
];

async function history(): Promise<KeyRecord[]> {
  const one = await startKeyHistory(first, { createdAt: 1, firstEntry: 0 });
  const two = await extendKeyHistory(one, first, second, {
    createdAt: 2,
    firstEntry: 100,
    retires: [first.publicKey],
  });
  const three = await extendKeyHistory(two, second, third, { createdAt: 3, firstEntry: 200 });
  return [one, two, three];
}

const fileOf = (records: readonly KeyRecord[]) =>
  records.map((record) => `${encodeKeyRecord(record)}\n`).join("");

test("a history of rotations reads back and every line verifies", async () => {
  const records = await history();
  expect(parseKeyHistory(fileOf(records))).toEqual(records);
  expect(await findBrokenRecord(records, verifyEd25519)).toBeUndefined();
  expect(parseKeyHistory("")).toEqual([]);
});

test("a changed, missing, reordered or self-appointed line is named", async () => {
  const [one, two, three] = (await history()) as [KeyRecord, KeyRecord, KeyRecord];
  const broken = async (records: KeyRecord[]) =>
    (await findBrokenRecord(records, verifyEd25519))?.line;
  expect(await broken([{ ...one, created_at: 9 }, two, three])).toBe(1);
  expect(await broken([one, { ...two, first_entry: 101 }, three])).toBe(2);
  expect(await broken([one, three])).toBe(2);
  expect(await broken([two, three])).toBe(1);
  expect(await broken([one, three, two])).toBe(2);
  const usurper = createSigner(generateKey());
  const taken = await startKeyHistory(usurper, { createdAt: 2, firstEntry: 100 });
  const linked = {
    ...taken,
    number: 1,
    previous_hash: keyRecordHash(one),
    possession: taken.signature,
  };
  expect(await broken([one, linked])).toBe(2);
});

test("a line that both keys signed is still named when it is not the next one", async () => {
  const [one, two, three] = (await history()) as [KeyRecord, KeyRecord, KeyRecord];
  const wrong: [Partial<KeyRecord>, string][] = [
    [{ number: 3 }, "a line is missing or out of order"],
    [{ previous_hash: keyRecordHash(one) }, "it does not continue the line before"],
    [{ first_entry: 99 }, "first_entry decreases"],
  ];
  for (const [change, reason] of wrong) {
    const body = { ...three, ...change };
    const message = keyRecordMessage(body);
    const signed = {
      ...body,
      signature: encodeSignatureText(second.sign(message)),
      possession: encodeSignatureText(third.sign(message)),
    };
    expect(await findBrokenRecord([one, two, signed], verifyEd25519)).toEqual({ line: 3, reason });
  }
});

test("a key may start at the same entry as its predecessor: nothing was signed in between", async () => {
  const [one, two] = (await history()) as [KeyRecord, KeyRecord];
  const facts = { createdAt: 3, firstEntry: two.first_entry };
  const next = await extendKeyHistory(two, second, third, facts);
  expect(await findBrokenRecord([one, two, next], verifyEd25519)).toBeUndefined();
});

test("a key cannot be adopted without its own signature", async () => {
  const [one, two] = (await history()) as [KeyRecord, KeyRecord, KeyRecord];
  const { possession: _, ...without } = two;
  expect(await findBrokenRecord([one, without], verifyEd25519)).toEqual({
    line: 2,
    reason: "the new key did not sign",
  });
  const eager = { ...one, possession: one.signature };
  expect((await findBrokenRecord([eager], verifyEd25519))?.line).toBe(1);
  const own = { ...two, possession: two.signature };
  expect((await findBrokenRecord([one, own], verifyEd25519))?.line).toBe(2);
});

test("a key is in use from its record until a record retires it", async () => {
  const periods = keyPeriods(await history());
  expect(periods.get(encodeKeyText(first.publicKey))).toEqual({ first: 0, end: 100 });
  expect(periods.get(encodeKeyText(second.publicKey))).toEqual({
    first: 100,
    end: Number.POSITIVE_INFINITY,
  });
});

test("a key may sign from its first entry up to the one that retires it, and an unknown key none", async () => {
  const records = await history();
  const periods = keyPeriods(records);
  const [one, two] = records as [KeyRecord, KeyRecord];
  expect(keyFault(periods, one.key, 0)).toBeUndefined();
  expect(keyFault(periods, one.key, 99)).toBeUndefined();
  expect(keyFault(periods, one.key, 100)).toBe("the key was retired");
  expect(keyFault(periods, two.key, 99)).toBe("the key came later");
  expect(keyFault(periods, two.key, 100)).toBeUndefined();
  const stranger = encodeKeyText(createSigner(generateKey()).publicKey);
  expect(keyFault(periods, stranger, 0)).toBe("the key is not in the history");
});

test("a retired key stays retired when it is named again, and an unknown one gets no period", async () => {
  const [one, two] = (await history()) as [KeyRecord, KeyRecord];
  const stranger = encodeKeyText(createSigner(generateKey()).publicKey);
  const again = { ...two, number: 2, key: one.key, first_entry: 300, retires: [stranger] };
  const periods = keyPeriods([one, two, again]);
  expect(periods.get(one.key)).toEqual({ first: 0, end: 100 });
  expect(periods.has(stranger)).toBe(false);
});

test("trust goes from a key to its successors and never back", async () => {
  const records = await history();
  const [one, two, three] = signers.map(({ publicKey }) => encodeKeyText(publicKey));
  expect(trustedThroughHistory(records, new Set([two!]))).toEqual(new Set([two, three]));
  expect(trustedThroughHistory(records, new Set([one!]))).toEqual(new Set([one, two, three]));
  expect(trustedThroughHistory(records, new Set())).toEqual(new Set());
});

test("a line that is not a key record is refused with its number", async () => {
  const good = fileOf(await history());
  const bad = [
    "not JSON\n",
    "[]\n",
    good.slice(0, -1),
    `${good}{}\n`,
    good.replace('"number":0', '"number":"0"'),
    good.replace("countersign.key-history.v1", "other.v1"),
    good.replace('"key":"ed25519:', '"key":"p256:'),
    good.replace('"created_at":1', '"created_at":1,"note":1'),
    good.replace('"created_at":1', '"created_at": 1'),
  ];
  for (const text of bad) {
    let code: unknown;
    try {
      parseKeyHistory(text);
    } catch (error) {
      code = isCountersignError(error) ? error.code : error;
    }
    expect(code).toBe("ERR_KEYS_MALFORMED");
  }
});

test("only the key of the last record can write the next one", async () => {
  const [one] = (await history()) as [KeyRecord];
  const facts = { createdAt: 2, firstEntry: 0 };
  await expect(extendKeyHistory(one, second, third, facts)).rejects.toThrow(TypeError);
});

test("keys and signatures are read with and without prefix, and only at their length", () => {
  const hex = "ab".repeat(32);
  expect(parseKeyText(hex)).toEqual(parseKeyText(`ed25519:${hex}`));
  expect(parseSignatureText(hex + hex).length).toBe(64);
  const bad = [
    () => parseKeyText(hex.slice(2)),
    () => parseSignatureText(`p256:${hex}${hex}`),
    () => parseKeyText("zz".repeat(32)),
  ];
  for (const run of bad)
    expect(run).toThrow(expect.objectContaining({ code: "ERR_RECEIPT_SIGNATURE" }));
});
