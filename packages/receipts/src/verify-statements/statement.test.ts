import type { Signer } from "@countersign/core/sign";
import { encode, rfc8949EncodeOptions } from "cborg";
import { describe, expect, test } from "vitest";
import type { CborMap, CborTag, CborValue } from "../cose/cbor.js";
import { decodeCbor, encodeCbor } from "../cose/cbor.js";
import { keyThumbprint } from "../cose/cose-key.js";
import { signatureInput } from "../cose/sign1.js";
import { createStatementWriter } from "../export/write-statements.js";
import { numbered, statementSource } from "../testing/sample-statements.js";
import { encodeKeyText } from "../keys/key-text.js";
import { createNoteKey, encodeVkey } from "../note/vkey.js";
import { SAMPLE_ORIGIN, sampleLog, sampleSigner } from "../testing/sample-log.js";
import type { SampleLog } from "../testing/sample-log.js";
import { verifyStatement } from "./statement.js";
import type { Verification } from "../verify/result.js";

const log = await sampleLog(11, { rotateAt: 4, batch: 3 });
const issuer = sampleSigner(8);
const logSigner = sampleSigner(9);
const statementsOf = async (of: SampleLog): Promise<Uint8Array[]> => {
  const writer = await createStatementWriter(statementSource(of));
  return Promise.all(numbered(of).map((entry) => writer.encode(entry)));
};
const statements = await statementsOf(log);
const good = statements[5] as Uint8Array;
const trust = { trustedKeys: log.receiptKeys, trustedLogs: [log.vkey] };
const verify = (bytes: Uint8Array): Promise<Verification> => verifyStatement(bytes, trust);
const isRefused = async (bytes: Uint8Array): Promise<boolean> => !(await verify(bytes)).valid;

/** A statement taken apart, with each of its encoded parts as a value. */
type Parts = {
  protected: CborMap;
  payload: CborValue;
  receipt: { protected: CborMap; proof: CborValue[]; payload: CborValue };
};
const partsOf = (bytes: Uint8Array): Parts => {
  const read = (data: CborValue | undefined): CborValue =>
    decodeCbor("a test", data as Uint8Array, 1e6);
  const [header, unprotected, payload] = (read(bytes) as CborTag).value as CborValue[];
  const [encoded] = (unprotected as CborMap).get(394) as CborValue[];
  const [inner, proofs, root] = (read(encoded) as CborTag).value as CborValue[];
  const [proof] = ((proofs as CborMap).get(396) as CborMap).get(-1) as CborValue[];
  return {
    protected: read(header) as CborMap,
    payload: payload as CborValue,
    receipt: {
      protected: read(inner) as CborMap,
      proof: read(proof) as CborValue[],
      payload: root as CborValue,
    },
  };
};
const root = Uint8Array.from(Buffer.from(log.checkpoint.split("\n")[2] ?? "", "base64"));
const sign = (signer: Signer, header: Uint8Array, payload: Uint8Array): Uint8Array =>
  signer.sign(signatureInput(header, payload));

/** Puts the parts together again, signed anew: what a log would make that has other rules. */
function assemble(
  parts: Parts,
  change: {
    proofs?: CborValue;
    unprotected?: CborMap;
    receipts?: (receipt: Uint8Array) => CborValue;
    untagged?: boolean;
    signers?: { issuer?: Signer; log?: Signer };
    header?: (encoded: Uint8Array) => Uint8Array;
  } = {},
): Uint8Array {
  const { issuer: by = issuer, log: over = logSigner } = change.signers ?? {};
  const inner = encodeCbor(parts.receipt.protected);
  const proofs = change.proofs ?? new Map([[-1, [encodeCbor(parts.receipt.proof)]]]);
  const receipt = encodeCbor({
    tag: 18,
    value: [inner, new Map([[396, proofs]]), parts.receipt.payload, sign(over, inner, root)],
  });
  const list = change.receipts?.(receipt) ?? [receipt];
  const outer = change.header?.(encodeCbor(parts.protected)) ?? encodeCbor(parts.protected);
  const payload = parts.payload instanceof Uint8Array ? parts.payload : new Uint8Array(0);
  const value: CborValue = [
    outer,
    change.unprotected ?? new Map([[394, list]]),
    parts.payload,
    sign(by, outer, payload),
  ];
  return encodeCbor(change.untagged ? value : { tag: 18, value });
}

test("every statement of a log verifies, before and after a rotation, with single and with batch signatures", async () => {
  for (const bytes of statements) {
    const result = await verify(bytes);
    expect(result.checks.filter(({ status }) => status === "failed")).toEqual([]);
    expect(result).toMatchObject({ valid: true, signerTrusted: true });
  }
  expect(assemble(partsOf(good))).toEqual(Uint8Array.from(good));
});

test("each byte of a statement counts", async () => {
  for (let at = 0; at < good.length; at += 1) {
    const bad = Uint8Array.from(good);
    bad[at] = (bad[at] ?? 0) ^ (1 << (at % 8));
    expect([at, await isRefused(bad)]).toEqual([at, true]);
  }
}, 60_000);

test("a cut statement and one with bytes behind it are refused", async () => {
  for (let end = 0; end < good.length; end += 7) {
    expect(await isRefused(good.subarray(0, end))).toBe(true);
  }
  expect(await isRefused(Uint8Array.from([...good, 0]))).toBe(true);
  expect(await isRefused(Uint8Array.from([...good, ...good]))).toBe(true);
});

describe("signed by the right keys, but not what the profile says", () => {
  const changed = (change: (parts: Parts) => void): Uint8Array => {
    const parts = partsOf(good);
    change(parts);
    return assemble(parts);
  };
  const claims = (header: CborMap): CborMap => header.get(15) as CborMap;
  const cases: readonly [string, () => Uint8Array, string][] = [
    [
      "an unknown critical parameter",
      () => changed((parts) => parts.protected.set(2, ["x"]).set("x", 1)),
      "critical",
    ],
    [
      "an unknown parameter",
      () => changed((parts) => parts.protected.set("x", 1)),
      "unknown parameter",
    ],
    ["another algorithm", () => changed((parts) => parts.protected.set(1, -7)), "not EdDSA"],
    ["no key id", () => changed((parts) => void parts.protected.delete(4)), "key id"],
    [
      "a receipt's type",
      () => changed((parts) => parts.protected.set(16, "application/scitt-receipt+cose")),
      "type",
    ],
    [
      "another content type",
      () => changed((parts) => parts.protected.set(3, "application/json")),
      "content type",
    ],
    ["a further claim", () => changed((parts) => claims(parts.protected).set(6, 1)), "claim"],
    [
      "another issuer",
      () => changed((parts) => claims(parts.protected).set(1, "other")),
      "different issuers",
    ],
    [
      "the subject of another run",
      () => changed((parts) => claims(parts.protected).set(2, "run/other")),
      "the subject is run/other",
    ],
    ["a detached payload", () => changed((parts) => void (parts.payload = null)), "detached"],
    [
      "another tree size with the same path",
      () => changed((parts) => void (parts.receipt.proof[0] = 12)),
      "the log signed tree/11",
    ],
    [
      "another index",
      () => changed((parts) => void (parts.receipt.proof[1] = 4)),
      "did not sign the root",
    ],
    [
      "an index that is the size",
      () => changed((parts) => void (parts.receipt.proof[1] = 11)),
      "below the size",
    ],
    [
      "a negative index",
      () => changed((parts) => void (parts.receipt.proof[1] = -1)),
      "below the size",
    ],
    [
      "a path without its last hash",
      () => changed((parts) => void (parts.receipt.proof[2] as CborValue[]).pop()),
      "does not fit",
    ],
    [
      "a path in another order",
      () =>
        changed(({ receipt: { proof } }) => {
          proof[2] = (proof[2] as CborValue[]).toReversed();
        }),
      "did not sign",
    ],
    [
      "a path of a hash that is too short",
      () => changed((parts) => void (parts.receipt.proof[2] = [new Uint8Array(31)])),
      "list of hashes",
    ],
    [
      "an attached root",
      () => changed((parts) => void (parts.receipt.payload = root)),
      "not detached",
    ],
    [
      "another data structure",
      () => changed((parts) => parts.receipt.protected.set(395, 2)),
      "data structure",
    ],
    [
      "no data structure",
      () => changed((parts) => void parts.receipt.protected.delete(395)),
      "data structure",
    ],
    [
      "a critical parameter in the receipt",
      () => changed((parts) => parts.receipt.protected.set(2, [4])),
      "critical",
    ],
    [
      "two receipts",
      () => assemble(partsOf(good), { receipts: (receipt) => [receipt, receipt] }),
      "exactly one receipt",
    ],
    [
      "no receipt in the list",
      () => assemble(partsOf(good), { receipts: () => [] }),
      "exactly one receipt",
    ],
    ["no receipt at all", () => assemble(partsOf(good), { unprotected: new Map() }), "no receipt"],
    [
      "a receipt that is no byte string",
      () => assemble(partsOf(good), { receipts: () => [1] }),
      "byte string",
    ],
    [
      "two proofs",
      () => assemble(partsOf(good), { proofs: new Map([[-1, [encodeCbor(1), encodeCbor(1)]]]) }),
      "exactly one",
    ],
    [
      "a consistency proof",
      () => assemble(partsOf(good), { proofs: new Map([[-2, [encodeCbor(1)]]]) }),
      "inclusion proofs",
    ],
    ["no tag", () => assemble(partsOf(good), { untagged: true }), "not a tagged COSE_Sign1"],
    [
      "a protected header with keys out of order",
      () => assemble(partsOf(good), { header: reorder }),
      "not deterministic",
    ],
    [
      "a protected header with a duplicate label",
      () => assemble(partsOf(good), { header: duplicate }),
      "not deterministic",
    ],
    [
      "a protected header with a long number",
      () => assemble(partsOf(good), { header: lengthen }),
      "not deterministic",
    ],
    [
      "a root that the issuer signed",
      () => assemble(partsOf(good), { signers: { log: issuer } }),
      "did not sign the root",
    ],
    [
      "a statement that the log signed",
      () => assemble(partsOf(good), { signers: { issuer: logSigner } }),
      "signature is not valid",
    ],
  ];
  test.each(cases)("%s is refused", async (_, make, named) => {
    const result = await verify(make());
    const failures = result.checks.filter(({ status }) => status === "failed");
    expect(failures.map(({ detail }) => detail).join("\n")).toContain(named);
    expect(result.valid).toBe(false);
  });
});

const bytesOf = (header: Uint8Array): number[] => [...header];
/** Exchanges the first two parameters, 1 and 3. */
function reorder(header: Uint8Array): Uint8Array {
  const [head, one, algorithm, ...rest] = bytesOf(header);
  const end = 1 + 2 + 42;
  return Uint8Array.from([
    head!,
    ...rest.slice(0, end - 1),
    one!,
    algorithm!,
    ...rest.slice(end - 1),
  ]);
}
/** Writes the first parameter twice. */
function duplicate(header: Uint8Array): Uint8Array {
  const [head, one, algorithm, ...rest] = bytesOf(header);
  return Uint8Array.from([head! + 1, one!, algorithm!, one!, algorithm!, ...rest]);
}
/** Writes the label 1 in two bytes. */
function lengthen(header: Uint8Array): Uint8Array {
  const [head, one, ...rest] = bytesOf(header);
  return Uint8Array.from([head!, 0x18, one!, ...rest]);
}

test("the receipt of another entry and that of another tree are refused", async () => {
  const [mine, others] = [partsOf(good), partsOf(statements[6] as Uint8Array)];
  expect(await isRefused(assemble({ ...mine, receipt: others.receipt }))).toBe(true);
  const longer = await statementsOf(await sampleLog(12, { rotateAt: 4, batch: 3 }));
  const newer = partsOf(longer[5] as Uint8Array);
  expect(await isRefused(assemble({ ...mine, receipt: newer.receipt }))).toBe(true);
});

test("an entry that the log does not have is refused, whoever signed it", async () => {
  const parts = partsOf(good);
  const text = new TextDecoder().decode(parts.payload as Uint8Array);
  const payload = new TextEncoder().encode(text.replace('"seq":5', '"seq":6'));
  const result = await verify(assemble({ ...parts, payload }));
  expect(result.checks.filter(({ status }) => status === "failed").map(({ id }) => id)).toEqual([
    "inclusion",
    "entry-sequence",
  ]);
});

test("keys that the verifier did not name are refused, and a stranger's key does not help", async () => {
  const stranger = sampleSigner(42);
  const other = encodeVkey(createNoteKey(SAMPLE_ORIGIN, stranger.publicKey));
  const wrongIssuer = await verifyStatement(good, {
    ...trust,
    trustedKeys: [encodeKeyText(stranger.publicKey)],
  });
  expect(wrongIssuer.checks.find(({ id }) => id === "statement-signature")?.status).toBe("failed");
  const wrongLog = await verifyStatement(good, { ...trust, trustedLogs: [other] });
  expect(wrongLog.checks.find(({ id }) => id === "inclusion")?.status).toBe("failed");
  const parts = partsOf(good);
  parts.protected.set(4, keyThumbprint(stranger.publicKey));
  expect(await isRefused(assemble(parts, { signers: { issuer: stranger } }))).toBe(true);
  const presented = await verifyStatement(good, {
    presentedKeys: log.receiptKeys,
    presentedLog: log.vkey,
  });
  expect(presented).toMatchObject({ valid: true, signerTrusted: null });
});

test("a key that was retired before the tree had its size issues no statement", async () => {
  const old = sampleSigner(7);
  const parts = partsOf(good);
  parts.protected.set(4, keyThumbprint(old.publicKey));
  const bytes = assemble(parts, { signers: { issuer: old } });
  expect(await isRefused(bytes)).toBe(false);
  const periods = new Map(
    log.receiptKeys.map((key, at) => [
      key,
      at === 0 ? { first: 0, end: 4 } : { first: 4, end: Infinity },
    ]),
  );
  const result = await verifyStatement(bytes, { ...trust, periods });
  expect(result.checks.find(({ id }) => id === "statement-key")).toMatchObject({
    status: "failed",
  });
  expect(await verifyStatement(good, { ...trust, periods })).toMatchObject({ valid: true });
});

test("a hostile length is refused at once", async () => {
  const start = Date.now();
  for (const text of [
    "d2849b7fffffffffffffff",
    "d2845b7fffffffffffffff",
    "d284bb7fffffffffffffff",
  ]) {
    expect(await isRefused(Uint8Array.from(Buffer.from(text, "hex")))).toBe(true);
  }
  expect(await isRefused(encode(new Uint8Array(200_000), rfc8949EncodeOptions))).toBe(true);
  expect(Date.now() - start).toBeLessThan(1_000);
});
