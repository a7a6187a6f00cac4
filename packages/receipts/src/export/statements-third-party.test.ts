import { createHash, createPublicKey, verify } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dsse } from "@sigstore/core";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { keyThumbprintHex } from "../cose/cose-key.js";
import { encodeCoseReceipt, signRoot } from "../cose/receipt.js";
import { encodeStatement, ENTRY_CONTENT_TYPE } from "../cose/statement.js";
import { signEnvelope } from "../dsse/envelope.js";
import { leafHash } from "../merkle/hash.js";
import { hasPython, runPython } from "../testing/python-verifier.js";
import { numbered, statementSource } from "../testing/sample-statements.js";
import { SAMPLE_ORIGIN, sampleLog, sampleSigner } from "../testing/sample-log.js";
import { verifyStatement } from "../verify-statements/statement.js";
import { signRunStatement } from "./run-statement.js";
import { createStatementWriter, writeStatements } from "./write-statements.js";

// Code that is not ours reads what we write: a COSE library for npm, the DSSE encoding of sigstore, and a program in
// Python's standard library that was written from the RFCs.
const SIZE = 23;
const log = await sampleLog(SIZE, { rotateAt: 9, batch: 4 });
const seed = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
let root = "";

/** The parts of `@ldclabs/cose-ts` that the tests use; its own types do not resolve in Node. */
type CoseLibrary = {
  Ed25519Key: {
    fromPublic(publicKey: Uint8Array): object;
    fromSecret(secret: Uint8Array): object;
    new (key: Map<number, unknown>): { getPublicKey(): Uint8Array; kid: Uint8Array };
  };
  Header: new (parameters: Map<number, unknown>) => CoseHeader;
  Sign1Message: {
    fromBytes(key: object, bytes: Uint8Array): CoseMessage;
    withTag(bytes: Uint8Array): Uint8Array;
    new (payload: Uint8Array, header: CoseHeader, unprotected: CoseHeader): CoseMessage;
  };
  decodeCBOR(bytes: Uint8Array): unknown;
  encodeCBOR(value: unknown): Uint8Array;
};
type CoseHeader = { toRaw(): Map<number, unknown> };
type CoseMessage = {
  payload: Uint8Array;
  protected: CoseHeader;
  unprotected: CoseHeader;
  toBytes(key: object): Uint8Array;
};

/** Its modules import each other without file extensions, which only a bundler resolves. */
async function loadCoseLibrary(): Promise<CoseLibrary> {
  const contents = `export * from "@ldclabs/cose-ts/ed25519";
    export * from "@ldclabs/cose-ts/header";
    export * from "@ldclabs/cose-ts/sign1";
    export * from "@ldclabs/cose-ts/utils";`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    bundle: true,
    format: "esm",
    platform: "node",
    write: false,
  });
  const [file] = outputFiles;
  const text = Buffer.from(file?.contents ?? new Uint8Array(0)).toString("base64");
  return (await import(/* @vite-ignore */ `data:text/javascript;base64,${text}`)) as CoseLibrary;
}
const path = (name: string): string => join(root, name);
const statement = (seq: number): Promise<Buffer> =>
  readFile(path(`export/statements/${seq}.scitt`));

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "countersign-statements-"));
  await writeStatements(path("export"), statementSource(log), numbered(log));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const { decodeCBOR, Ed25519Key, encodeCBOR, Header, Sign1Message } = await loadCoseLibrary();

describe("a COSE library", () => {
  const publicKey = (byte: number): object => Ed25519Key.fromPublic(sampleSigner(byte).publicKey);

  test("verifies the statement, then the receipt with the root that the path leads to", async () => {
    for (let seq = 0; seq < SIZE; seq += 1) {
      const message = Sign1Message.fromBytes(publicKey(8), await statement(seq));
      expect(Buffer.from(message.payload).equals(log.entries[seq] as Uint8Array)).toBe(true);
      expect(message.protected.toRaw().get(15)).toEqual(
        new Map([
          [1, "gw.example.com/sample"],
          [2, "run/run_1"],
        ]),
      );
      const [encoded] = message.unprotected.toRaw().get(394) as Uint8Array[];
      const [header, unprotected, payload, signature] = decodeCBOR(
        (encoded as Uint8Array).subarray(1),
      ) as [Uint8Array, Map<number, Map<number, Uint8Array[]>>, null, Uint8Array];
      expect(payload).toBeNull();
      const [proof] = unprotected.get(396)?.get(-1) ?? [];
      const [size, index, hashes] = decodeCBOR(proof as Uint8Array) as [
        number,
        number,
        Uint8Array[],
      ];
      expect([size, index]).toEqual([SIZE, seq]);
      const led = pathRoot(sha(Buffer.of(0), message.payload), index, size, hashes);
      expect(led.toString("base64")).toBe(log.checkpoint.split("\n")[2]);
      const attached = encodeCBOR([header, unprotected, led, signature]);
      const receipt = Sign1Message.fromBytes(publicKey(9), attached);
      expect(receipt.protected.toRaw().get(395)).toBe(1);
      const wrong = encodeCBOR([header, unprotected, sha(led), signature]);
      expect(() => Sign1Message.fromBytes(publicKey(9), wrong)).toThrow("signature mismatch");
    }
  });

  test("refuses a changed statement and another key, as we do", async () => {
    const bytes = await statement(3);
    expect(() => Sign1Message.fromBytes(publicKey(7), bytes)).toThrow("signature mismatch");
    const at = bytes.indexOf('"seq":3') + 6;
    const changed = Buffer.from(bytes);
    changed[at] = 0x34;
    expect(() => Sign1Message.fromBytes(publicKey(8), changed)).toThrow("signature mismatch");
    const trust = { trustedKeys: log.receiptKeys, trustedLogs: [log.vkey] };
    expect((await verifyStatement(bytes, trust)).valid).toBe(true);
    expect((await verifyStatement(changed, trust)).valid).toBe(false);
  });

  test("writes the same bytes as we do", async () => {
    const bytes = await statement(3);
    const read = Sign1Message.fromBytes(publicKey(8), bytes);
    const again = new Sign1Message(
      read.payload,
      new Header(read.protected.toRaw()),
      new Header(read.unprotected.toRaw()),
    );
    const written = Sign1Message.withTag(again.toBytes(Ed25519Key.fromSecret(seed(8))));
    expect(Buffer.from(written).equals(bytes)).toBe(true);
  });

  test("reads the key set: the log's key first, each under its thumbprint", async () => {
    const set = decodeCBOR(await readFile(path("export/keys.cbor"))) as Map<number, unknown>[];
    const keys = set.map((key) => new Ed25519Key(key));
    expect(keys.map((key) => Buffer.from(key.getPublicKey()))).toEqual(
      [9, 7, 8].map((byte) => Buffer.from(sampleSigner(byte).publicKey)),
    );
    for (const [at, key] of keys.entries()) {
      const bare = new Map([1, -1, -2].map((label) => [label, set[at]?.get(label)]));
      expect(Buffer.from(key.kid)).toEqual(sha(encodeCBOR(bare)));
    }
  });
});

describe("the DSSE encoding of sigstore", () => {
  test("is what the log's key signed about a run", async () => {
    const run = { run_id: "run_1", thread_id: "thread_1" };
    const signed = await signRunStatement(statementSource(log), run, numbered(log));
    const { payload, payloadType, signatures } = JSON.parse(signed?.envelope ?? "");
    const body = Buffer.from(payload, "base64");
    const message = dsse.preAuthEncoding(payloadType, body);
    const signature = Buffer.from(signatures[0].sig, "base64");
    expect(ed25519(sampleSigner(9).publicKey, message, signature)).toBe(true);
    expect(ed25519(sampleSigner(9).publicKey, body, signature)).toBe(false);
    const { subject, predicate } = JSON.parse(body.toString());
    const lines = log.entries.map((bytes) => `${Buffer.from(bytes).toString()}\n`).join("");
    expect(subject[0].digest.sha256).toBe(sha(Buffer.from(lines)).toString("hex"));
    expect(predicate).toMatchObject({
      entries: { count: SIZE, first: 0, last: SIZE - 1 },
      decisions: { allowed: 20, blocked: 3, would_block: 0 },
      policies: ["00".repeat(32)],
    });
  });
});

describe.skipIf(!hasPython("statements-third-party.test.ts"))(
  "a program in Python's standard library",
  () => {
    const keys = (): string[] => [
      ...log.receiptKeys.flatMap((key) => ["--key", key]),
      "--log-key",
      log.vkey,
    ];

    test("accepts every statement with the keys that the auditor was given", async () => {
      const files = log.entries.map((_, seq) => path(`export/statements/${seq}.scitt`));
      const { code, output } = await runPython(...keys(), ...files);
      expect(output.match(/^held {4}/gmu)).toHaveLength(SIZE);
      expect(output).toContain(`entry ${SIZE - 1} of ${SIZE}`);
      expect(code).toBe(0);
    });

    test("refuses one changed bit in each part of a statement, as we do", async () => {
      const bytes = await statement(10);
      const size = bytes.length;
      // The start, the protected header, the payload, the receipt, its proof, both signatures, the end.
      const places = [
        0,
        1,
        3,
        5,
        60,
        110,
        400,
        800,
        size - 600,
        size - 420,
        size - 200,
        size - 90,
        size - 1,
      ];
      const trust = { trustedKeys: log.receiptKeys, trustedLogs: [log.vkey] };
      for (const at of places) {
        const bad = Buffer.from(bytes);
        bad[at] = (bad[at] ?? 0) ^ 1;
        await writeFile(path("bad.scitt"), bad);
        const { code, output } = await runPython(...keys(), path("bad.scitt"));
        expect([at, code, output]).toEqual([at, 1, expect.stringContaining("FAILED")]);
        expect((await verifyStatement(bad, trust)).valid).toBe(false);
      }
    });

    test.each([
      ["a member twice", (text: string) => text.replace("{", '{"mode":"enforce",')],
      ["a member twice, first another number", (text: string) => text.replace("{", '{"seq":1,')],
      ["a space", (text: string) => text.replace(",", ", ")],
      ["an escape", (text: string) => text.replace("run_1", "run\\u005f1")],
      ["a number in another spelling", (text: string) => text.replace('"seq":0', '"seq":0.0')],
      ["no number", (text: string) => text.replace(/"received_at":\d+/u, '"received_at":NaN')],
      ["an unknown member", (text: string) => text.replace(/\}$/u, ',"zz":1}')],
      ["a list of classes", (text: string) => text.replace('"display"', '["display"]')],
      ["another mode", (text: string) => text.replace('"enforce"', '"off"')],
    ])("refuses an entry with %s, though issuer and log signed it, as we do", async (_, change) => {
      const [entry = new Uint8Array(0)] = log.entries;
      const text = new TextDecoder().decode(entry);
      const [logKey, issuer] = [sampleSigner(9), sampleSigner(8)];
      const signed = async (payload: Uint8Array): Promise<Uint8Array> => {
        const root = await signRoot(
          { origin: SAMPLE_ORIGIN, size: 1, root: leafHash(payload) },
          logKey,
        );
        const receipt = encodeCoseReceipt(root, 0, []);
        const named = {
          issuer: SAMPLE_ORIGIN,
          subject: "run/run_1",
          contentType: ENTRY_CONTENT_TYPE,
        };
        return encodeStatement({ ...named, payload, receipt }, issuer);
      };
      const trust = { trustedKeys: log.receiptKeys, trustedLogs: [log.vkey] };
      for (const [now, isRight] of [
        [text, true],
        [change(text), false],
      ] as const) {
        const bytes = await signed(new TextEncoder().encode(now));
        await writeFile(path("signed.scitt"), bytes);
        const { code } = await runPython(...keys(), path("signed.scitt"));
        const { valid } = await verifyStatement(bytes, trust);
        expect([now, code, valid]).toEqual([now, isRight ? 0 : 1, isRight]);
      }
      expect(change(text)).not.toBe(text);
    });

    test("refuses a run statement that the log signed and that says too much", async () => {
      const run = { run_id: "run_1", thread_id: "thread_1" };
      const made = await signRunStatement(statementSource(log), run, numbered(log));
      const files = log.entries.map((_, seq) => path(`export/statements/${seq}.scitt`));
      const check = async (change: (text: string) => string) => {
        const { payload } = JSON.parse(made?.envelope ?? "");
        const body = change(Buffer.from(payload, "base64").toString());
        const keyId = keyThumbprintHex(sampleSigner(9).publicKey);
        const bytes = new TextEncoder().encode(body);
        const kind = "application/vnd.in-toto+json";
        await writeFile(path("run.json"), await signEnvelope(kind, bytes, keyId, sampleSigner(9)));
        return runPython(...keys(), "--run", path("run.json"), ...files);
      };
      expect(await check((text) => text)).toMatchObject({ code: 0 });
      const changes: readonly [RegExp, string, string][] = [
        [/"blocked":3/u, '"blocked":0', "other decisions"],
        [/"log":"[^"]*"/u, '"log":"other.example"', "another log"],
        [/"root":"../u, '"root":"ff', "another tree"],
        [/"name":"run\/run_1"/u, '"name":"run/run_2"', "subject"],
        [/"first":0,"last"/u, '"first":1,"last"', "other entries"],
        [/"policies":\[/u, '"policies":["aa",', "other policies"],
        [/:/u, ": ", "canonical"],
      ];
      for (const [from, to, reason] of changes) {
        const refused = await check((text) => text.replace(from, to));
        expect(refused).toMatchObject({ code: 1, output: expect.stringContaining(reason) });
      }
    });

    test("refuses a receipt in an entry whose key it was not given", async () => {
      const [, newest = ""] = log.receiptKeys;
      const file = path("export/statements/1.scitt");
      expect(await runPython("--key", newest, "--log-key", log.vkey, file)).toMatchObject({
        code: 1,
        output: expect.stringContaining("the key of the receipt in the entry is unknown"),
      });
    });

    test("refuses keys of others", async () => {
      const file = path("export/statements/1.scitt");
      const stranger = ["--key", `ed25519:${"ab".repeat(32)}`, "--log-key", log.vkey];
      expect(await runPython(...stranger, file)).toMatchObject({
        code: 1,
        output: expect.stringContaining("issuer's key is unknown"),
      });
      const other = "gw.example.com/log1+f76839f9+AepKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs";
      const [key = ""] = log.receiptKeys.slice(-1);
      expect(await runPython("--key", key, "--log-key", other, file)).toMatchObject({
        code: 1,
        output: expect.stringContaining("the log's key is unknown"),
      });
    });

    test("a log of one entry has a receipt without a path", async () => {
      const one = await sampleLog(1);
      const writer = await createStatementWriter(statementSource(one));
      const [entry] = numbered(one);
      const bytes = await writer.encode(entry as { seq: number; bytes: Uint8Array });
      await writeFile(path("one.scitt"), bytes);
      const trust = ["--key", one.receiptKeys[0] ?? "", "--log-key", one.vkey];
      expect(await runPython(...trust, path("one.scitt"))).toMatchObject({ code: 0 });
      const ours = { trustedKeys: one.receiptKeys, trustedLogs: [one.vkey] };
      expect((await verifyStatement(bytes, ours)).valid).toBe(true);
    });
  },
);

function sha(...parts: Uint8Array[]): Buffer {
  return createHash("sha256").update(Buffer.concat(parts)).digest();
}

function ed25519(key: Uint8Array, message: Buffer, signature: Buffer): boolean {
  const der = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), key]);
  const publicKey = createPublicKey({ key: der, format: "der", type: "spki" });
  return verify(null, message, publicKey, signature);
}

/** The root by the recursive definition of RFC 9162 section 2.1.3, without the loop of a verifier. */
function pathRoot(leaf: Buffer, at: number, size: number, hashes: readonly Uint8Array[]): Buffer {
  const last = hashes.at(-1);
  if (size === 1 || last === undefined) return leaf;
  const k = 2 ** Math.floor(Math.log2(size - 1));
  const rest = hashes.slice(0, -1);
  return at < k
    ? sha(Buffer.of(1), pathRoot(leaf, at, k, rest), last)
    : sha(Buffer.of(1), last, pathRoot(leaf, at - k, size - k, rest));
}
