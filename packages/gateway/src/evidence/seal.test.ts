import { randomBytes } from "node:crypto";
import { sha256Hex } from "@countersign/core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { EvidenceKey } from "../keys/evidence-keys.js";
import { createEvidenceSeal } from "./seal.js";

const key = (id: string): EvidenceKey => ({ id, secret: new Uint8Array(randomBytes(32)) });
const OWN = key("own");
const seal = createEvidenceSeal("example.com/log");

const places = fc.record({
  seq: fc.nat({ max: 2 ** 40 }),
  payloadHash: fc.string().map(sha256Hex),
});

test("what was sealed opens at its own entry, and its text is not in the bytes", () => {
  fc.assert(
    fc.property(places, fc.string({ minLength: 8, unit: "binary" }), (place, text) => {
      const bytes = seal.seal(OWN, place, text);
      const kept = Buffer.from(text, "utf8").toString("utf8");
      expect(seal.open([key("other"), OWN], "own", place, bytes)).toBe(kept);
      expect(Buffer.from(bytes).includes(text)).toBe(false);
    }),
  );
});

test("a copy opens at no other entry, for no other payload, and in no other log", () => {
  fc.assert(
    fc.property(places, places, (place, other) => {
      const bytes = seal.seal(OWN, place, "text");
      const damaged = expect.objectContaining({ code: "ERR_EVIDENCE_DAMAGED" });
      const elsewhere = createEvidenceSeal("example.com/log2");
      expect(() => elsewhere.open([OWN], "own", place, bytes)).toThrow(damaged);
      for (const wrong of [
        { ...place, seq: place.seq + 1 },
        { ...place, payloadHash: other.payloadHash.replace(/^./u, "x") },
      ]) {
        expect(() => seal.open([OWN], "own", wrong, bytes)).toThrow(damaged);
      }
    }),
  );
});

test("a copy with one changed bit, or cut off, does not open", () => {
  const place = { seq: 3, payloadHash: "00" };
  const bytes = seal.seal(OWN, place, "a text that was kept");
  fc.assert(
    fc.property(fc.nat({ max: bytes.length * 8 - 1 }), (bit) => {
      const changed = Uint8Array.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      for (const wrong of [changed, bytes.subarray(0, bit >> 3)]) {
        expect(() => seal.open([OWN], "own", place, wrong)).toThrow(
          expect.objectContaining({ code: "ERR_EVIDENCE_DAMAGED" }),
        );
      }
    }),
  );
});

test("another key does not open a copy, and a missing one is named", () => {
  const place = { seq: 3, payloadHash: "00" };
  const bytes = seal.seal(OWN, place, "text");
  expect(() => seal.open([{ ...key("x"), id: "own" }], "own", place, bytes)).toThrow(
    expect.objectContaining({ code: "ERR_EVIDENCE_DAMAGED" }),
  );
  expect(() => seal.open([key("x")], "own", place, bytes)).toThrow(
    expect.objectContaining({ code: "ERR_EVIDENCE_KEY" }),
  );
});
