import { verify as nodeVerify, createPublicKey, createHash } from "node:crypto";
import { createSigner, importPrivateKey } from "@countersign/core/sign";
import { expect, test } from "vitest";
import { signCheckpoint } from "../checkpoint/sign-checkpoint.js";
import { EMPTY_ROOT, leafHash, rootOfLevel } from "../merkle/hash.js";
import { signCosignature } from "../note/cosignature.js";
import { encodeNoteSignature } from "../note/note.js";
import { createNoteKey } from "../note/vkey.js";

test("the published vector of a cosignature is what we sign", async () => {
  const signer = createSigner(importPrivateKey(new Uint8Array(32).fill(10)));
  const text = "gw.example.com/log1\n8\nXcnaeacGWamtVZy3Ad7ZoqudgjqtL0lgz+Nw7/RgQyg=\n";
  const line = await signCosignature("witness.example.com/w1", text, 1_744_993_930, signer);
  expect(encodeNoteSignature(line)).toBe(
    "— witness.example.com/w1 a+/WcgAAAABoAn6KeER0+GcGaEufpu6gLiJ7G1oqucd2X92Y3lFyFGB6OExFPWDt8kHE+0bG0WQW6PgdzvB06pC+ls4I2lmHHIqvBQ==\n",
  );
});
void [
  nodeVerify,
  createPublicKey,
  createHash,
  signCheckpoint,
  EMPTY_ROOT,
  leafHash,
  rootOfLevel,
  createNoteKey,
];
