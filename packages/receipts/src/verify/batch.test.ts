import { verifyEd25519 } from "@countersign/core/verify";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { encodeKeyText } from "../keys/key-text.js";
import { leafHash } from "../merkle/hash.js";
import { rootFromInclusion } from "../merkle/verify-proof.js";
import { batchRootMessage, parseBatchSignature } from "../receipt/batch-signature.js";
import { buildBatch } from "../receipt/build-batch.js";
import { sampleSigner } from "../testing/sample-log.js";
import { createBatchVerifier } from "./batch.js";

const signer = sampleSigner(7);
const keyText = encodeKeyText(signer.publicKey);
const bodiesOf = (size: number) =>
  Array.from({ length: size }, (_, at) => new TextEncoder().encode(`body ${at}`));

/** The documented rule: follow the path with the inclusion check, then check the signature. */
async function verifyAlone(leaf: Uint8Array, text: string): Promise<boolean> {
  const { index, size, path, rootSignature } = parseBatchSignature(text);
  const root = rootFromInclusion(leaf, index, size, path);
  if (root === undefined) return false;
  return verifyEd25519(signer.publicKey, batchRootMessage(size, root), rootSignature);
}

test("the signature of a group is checked once and every receipt of it verifies", async () => {
  let checks = 0;
  const verify = createBatchVerifier((key, message, signature) => {
    checks += 1;
    return verifyEd25519(key, message, signature);
  });
  const bodies = bodiesOf(100);
  const signatures = buildBatch(bodies, (message) => signer.sign(message));
  for (const [at, body] of bodies.entries()) {
    expect(await verify(signer.publicKey, keyText, leafHash(body), signatures[at]!)).toBe(true);
  }
  expect(checks).toBe(1);
});

test("the cache never changes the result for a changed receipt or path", async () => {
  const size = fc.integer({ min: 2, max: 40 });
  await fc.assert(
    fc.asyncProperty(size, fc.nat(), fc.nat(), fc.nat(), async (count, pick, other, at) => {
      const bodies = bodiesOf(count);
      const signatures = buildBatch(bodies, (message) => signer.sign(message));
      const verify = createBatchVerifier(verifyEd25519);
      const warm = bodies.map((_, index) => index).filter((index) => index % 3 !== other % 3);
      for (const index of warm) {
        await verify(signer.publicKey, keyText, leafHash(bodies[index]!), signatures[index]!);
      }
      const signature = signatures[pick % count]!;
      const path = signature.lastIndexOf(":") + 1;
      const hash = path + 43 * Math.floor((at % Math.max(1, signature.length - path)) / 43);
      const candidates = [
        signature,
        signatures[other % count]!,
        // Another valid hash at one position of the path.
        signature.slice(0, hash) + "A".repeat(43) + signature.slice(hash + 43),
        signature.slice(0, -43),
        `${signature}${"A".repeat(43)}`,
      ].filter((text) => (text.length - text.lastIndexOf(":") - 1) % 43 === 0);
      const leaf = leafHash(bodies[pick % count]!);
      for (const text of candidates) {
        expect(await verify(signer.publicKey, keyText, leaf, text)).toBe(
          await verifyAlone(leaf, text),
        );
      }
    }),
    { numRuns: 60 },
  );
});

test("many groups at once, and a large one, stay correct when the cache is full", async () => {
  const verify = createBatchVerifier(verifyEd25519);
  const groups = Array.from({ length: 20 }, (_, group) => {
    const bodies = bodiesOf(group + 1);
    return { bodies, signatures: buildBatch(bodies, (message) => signer.sign(message)) };
  });
  for (let round = 0; round < 3; round += 1) {
    for (const { bodies, signatures } of groups) {
      const at = round % bodies.length;
      const leaf = leafHash(bodies[at]!);
      expect(await verify(signer.publicKey, keyText, leaf, signatures[at]!)).toBe(true);
    }
  }
  const bodies = bodiesOf(4500);
  const signatures = buildBatch(bodies, (message) => signer.sign(message));
  for (const [at, body] of bodies.entries()) {
    if (!(await verify(signer.publicKey, keyText, leafHash(body), signatures[at]!))) {
      throw new Error(`receipt ${at} of the large group`);
    }
  }
  expect(await verify(signer.publicKey, keyText, leafHash(bodies[1]!), signatures[0]!)).toBe(false);
});
