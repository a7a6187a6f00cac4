import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeExport } from "../export/write-export.js";
import { sampleLog, sampleSigner } from "../testing/sample-log.js";
import { verifyExportDirectory } from "./index.js";
import { loadFastVerifier } from "./ed25519.js";

const here = fileURLToPath(new URL(".", import.meta.url));
const log = await sampleLog(1100, { rotateAt: 700, batch: 32 });
let root = "";
let directory = "";
let workerScript: URL;

beforeAll(async () => {
  // Inside the package, so that the optional dependency resolves as it does when installed.
  const cache = join(here, "../../.cache");
  await mkdir(cache, { recursive: true });
  root = await mkdtemp(join(cache, "verify-node-"));
  directory = join(root, "export");
  await writeExport(directory, log);
  const outfile = join(root, "worker.mjs");
  await build({
    entryPoints: [join(here, "worker.ts")],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    conditions: ["source"],
    logLevel: "silent",
  });
  workerScript = pathToFileURL(outfile);
});
afterAll(async () => {
  await rm(root, { recursive: true, force: true });
});

test("several threads give the result of one, check by check", async () => {
  const trust = { trustedLogs: [log.vkey], trustedKeys: [log.receiptKeys[0]!] };
  const one = await verifyExportDirectory(directory, { ...trust, threads: 1 });
  const many = await verifyExportDirectory(directory, { ...trust, threads: 3, workerScript });
  expect(many).toEqual(one);
  expect(many).toMatchObject({ valid: true, signerTrusted: true });
});

test("a broken entry is named the same by one thread and by several", async () => {
  const path = join(directory, "tile/entries/002");
  const good = await readFile(path);
  const bad = Uint8Array.from(good);
  bad[bad.length >> 1]! ^= 1;
  await writeFile(path, bad);
  try {
    const one = await verifyExportDirectory(directory, { threads: 1 });
    const many = await verifyExportDirectory(directory, { threads: 2, workerScript });
    expect(many).toEqual(one);
    expect(many.valid).toBe(false);
    expect(many.firstBrokenIndex).toBeGreaterThanOrEqual(512);
    expect(many.firstBrokenIndex).toBeLessThan(768);
  } finally {
    await writeFile(path, good);
  }
});

test("a worker that cannot start rejects the verification", async () => {
  const missing = pathToFileURL(join(root, "missing.mjs"));
  await expect(
    verifyExportDirectory(directory, { threads: 2, workerScript: missing }),
  ).rejects.toThrow(/missing/);
});

test("the fast signature check accepts and refuses what the runtime's own does", async () => {
  const verify = await loadFastVerifier();
  const signer = sampleSigner(5);
  const message = Uint8Array.of(1, 2, 3);
  const signature = signer.sign(message);
  expect(await verify(signer.publicKey, message, signature)).toBe(true);
  expect(await verify(signer.publicKey, Uint8Array.of(1), signature)).toBe(false);
  expect(() => verify(signer.publicKey, message, signature.slice(1))).toThrow(
    expect.objectContaining({ code: "ERR_ED25519_LENGTH" }),
  );
});

test.each([
  ["entries", "tile/entries/000"],
  ["leaf tile", "tile/0/000"],
  ["receipts file", "receipts.jsonl"],
])("when the fast verifier finds a fault in the %s, the general one decides", async (_, path) => {
  const plain = await sampleLog(300);
  const target = join(root, `plain-${path.replaceAll("/", "-")}`);
  await writeExport(target, plain);
  const threads = { threads: 2, workerScript };
  const sound = await verifyExportDirectory(target, threads);
  expect(sound).toEqual(await verifyExportDirectory(target, { threads: 1 }));
  expect(sound.valid).toBe(true);
  const bytes = await readFile(join(target, path));
  const flipped = (at: number): Uint8Array =>
    bytes.map((byte, place) => byte ^ Number(place === at));
  const damaged = [
    flipped(1),
    flipped(bytes.length >> 1),
    bytes.subarray(0, -1),
    bytes.subarray(0, 0),
  ];
  for (const bad of damaged) {
    await writeFile(join(target, path), bad);
    const many = await verifyExportDirectory(target, threads);
    expect(many).toEqual(await verifyExportDirectory(target, { threads: 1 }));
    expect(many.valid).toBe(false);
  }
});

test("a key that is not in the history, or not yet or no longer in use, is found by the fast verifier too", async () => {
  const rotated = await sampleLog(300, { rotateAt: 100 });
  for (const keys of [rotated.keys, rotated.keys.split("\n")[0] + "\n"]) {
    const target = join(root, `keys-${keys.length}`);
    await writeExport(target, { ...rotated, keys });
    const many = await verifyExportDirectory(target, { threads: 2, workerScript });
    expect(many).toEqual(await verifyExportDirectory(target, { threads: 1 }));
    expect(many.valid).toBe(keys === rotated.keys);
  }
});
