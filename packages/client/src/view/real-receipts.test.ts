import { canonicalJson, encodeHex, sha256Hex } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { createSigner, generateKey } from "@countersign/core/sign";
import { verifyReceipt } from "@countersign/receipts/verify";
import { expect, test } from "vitest";
import { settle } from "../testing/fake-time.js";
import { createHarness, runOf, textOf } from "../testing/harness.js";
import type { VerifyReceipt } from "./receipts.js";

const { started, finished } = runOf(1);
const signer = createSigner(generateKey());
const key = `ed25519:${encodeHex(signer.publicKey)}`;

/** A receipt made from the written format alone, by none of the code that verifies it. */
function receiptFor(event: object, changed: JsonObject = {}): JsonObject {
  const body: JsonObject = {
    id: "agui-evt_1",
    timestamp: 1_767_225_600,
    event_id: "evt_1",
    agent_id: "support",
    session_id: "session",
    capability_id: "<none>",
    event_type: "text_stream",
    classification: "display",
    transport: "sse",
    allowed: true,
    payload_hash: sha256Hex(canonicalJson(event as JsonObject)),
    kernel_key: key,
  };
  const signature = signer.sign(new TextEncoder().encode(canonicalJson(body)));
  return { ...body, signature: `ed25519:${encodeHex(signature)}`, ...changed };
}

/** A page's verifier: valid, by a trusted key, about the very event that arrived. */
const verify: VerifyReceipt = async (receipt, { event }) => {
  const { valid, signerTrusted } = await verifyReceipt(receipt as JsonObject, {
    trustedKeys: [key],
    ...(event === undefined ? {} : { event: event as unknown as JsonValue }),
  });
  return valid && signerTrusted === true;
};

async function tallyOf(receipt: JsonObject): Promise<{ verified: number; refused: number }> {
  const { store, transport } = createHarness({ verifyReceipt: verify });
  const ended = store.send("hello");
  await settle();
  const [open, content, close] = textOf("a", "x") as [object, object, object];
  const custom = { type: "CUSTOM", name: "countersign.receipt", value: receipt };
  transport.last().send(started, open, content, custom, close, finished);
  await ended;
  await expect.poll(() => store.getSnapshot().receipts.waiting).toBe(0);
  return store.getSnapshot().receipts;
}

const event = { type: "TEXT_MESSAGE_CONTENT", messageId: "a", delta: "x" };

test("a receipt of the event before it verifies with the receipts package", async () => {
  expect(await tallyOf(receiptFor(event))).toMatchObject({ verified: 1, refused: 0 });
});

test("a receipt of another event, and one that was altered, are refused", async () => {
  const other = receiptFor({ ...event, delta: "y" });
  expect(await tallyOf(other)).toMatchObject({ verified: 0, refused: 1 });
  const altered = receiptFor(event, { agent_id: "other" });
  expect(await tallyOf(altered)).toMatchObject({ verified: 0, refused: 1 });
});
