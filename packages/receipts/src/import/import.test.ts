import { canonicalJson, encodeHex } from "@countersign/core";
import { createSigner, generateKey } from "@countersign/core/sign";
import { expect, test } from "vitest";
import { foreignSample } from "../testing/foreign-sample.js";
import { importReceipt } from "./import-foreign.js";

const sample = foreignSample({
  id: "r1",
  session_id: "s",
  agent_id: "a",
  timestamp: 1_744_993_928,
});

test("a receipt signed over its canonical body is imported with the values it joins on", async () => {
  expect(await importReceipt(sample, "mcp")).toMatchObject({
    protocol: "mcp",
    id: "r1",
    session_id: "s",
    agent_id: "a",
    at: 1_744_993_928_000,
    receipt: sample,
  });
});

test("members can lie anywhere when the shape says where", async () => {
  const signer = createSigner(generateKey());
  const body = {
    proof: { key: `ed25519:${encodeHex(signer.publicKey)}` },
    context: { session: "s9" },
    at: "2026-11-15T00:00:00Z",
  };
  const signature = encodeHex(signer.sign(new TextEncoder().encode(canonicalJson(body))));
  const receipt = { ...body, proof: { ...body.proof, value: signature } };
  const imported = await importReceipt(receipt, "a2a", {
    signature: ["proof", "value"],
    key: ["proof", "key"],
    session_id: ["context", "session"],
    at: ["at"],
  });
  expect(imported).toMatchObject({ session_id: "s9", at: Date.UTC(2026, 10, 15) });
});

test.each([
  ["not an object", [1]],
  ["signature", { ...sample, signature: "ab" }],
  ["signature", { id: "r1" }],
  ["key", { ...sample, kernel_key: 5 }],
  ["signature does not verify", { ...sample, session_id: "another" }],
])("what is not such a receipt is refused with a code: %s", async (reason, value) => {
  await expect(importReceipt(value, "mcp")).rejects.toMatchObject({
    code: "ERR_FOREIGN_RECEIPT",
    facts: { reason },
  });
});
