import * as fc from "fast-check";
import { expect, test } from "vitest";
import { sampleEntries, sampleSigner } from "../testing/sample-log.js";
import { matchPlainEntry } from "./plain-entry.js";
import { matchPlainParts } from "./plain-parts.js";

const signer = sampleSigner(3);
const samples = [0, 3].flatMap((batch) =>
  sampleEntries(0, 8, signer, batch).map((bytes) => new TextDecoder().decode(bytes)),
);
// No signer of ours writes these: blocked without a reason, allowed with one.
samples.push(
  ...samples
    .slice(2, 4)
    .map((text) =>
      text.replace(/"allowed":(?:true|false)/, (value) =>
        value.endsWith("true") ? '"allowed":false' : '"allowed":true',
      ),
    ),
);
const pieces = ["0", "9", "a", "F", '"', "\\", "{", "}", "é", "\u007f", "\n", ""];

test("the parts of an entry match exactly when the whole entry matches, and equal its members", () => {
  const changed = fc.record({
    text: fc.constantFrom(...samples),
    at: fc.nat(),
    cut: fc.integer({ min: 0, max: 2 }),
    piece: fc.constantFrom(...pieces),
  });
  let found = 0;
  fc.assert(
    fc.property(changed, ({ text, at, cut, piece }) => {
      const place = at % (text.length + 1);
      const other = text.slice(0, place) + piece + text.slice(place + cut);
      const entry = matchPlainEntry(other);
      const parts = matchPlainParts(other);
      expect(parts === undefined).toBe(entry === undefined);
      if (entry === undefined || parts === undefined) return;
      found += 1;
      const receipt = other.slice(parts.head, parts.head + parts.length);
      expect(JSON.parse(receipt)).toEqual(entry.receipt);
      const { signature } = entry.receipt;
      expect(receipt.slice(parts.before)).toMatch(/^,"signature":"/);
      expect(parts.other ?? `ed25519:${parts.single}`).toBe(signature);
      expect(parts.single === undefined).toBe(!/^ed25519:[0-9a-f]{128}$/.test(signature));
      expect(parts.key).toBe(entry.receipt.kernel_key);
      expect(parts.isAllowed).toBe(entry.receipt.allowed);
      expect(parts.seq).toBe(String(entry.seq));
    }),
    { numRuns: 1_000 },
  );
  expect(found).toBeGreaterThan(100);
});
