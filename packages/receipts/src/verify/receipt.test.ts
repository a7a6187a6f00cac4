import { canonicalJson } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { buildBatch, prepareBatch } from "../receipt/build-batch.js";
import { receiptBody } from "../receipt/encode-receipt.js";
import { sampleBody, sampleEvent, sampleSigner } from "../testing/sample-log.js";
import { verifyReceipt } from "./receipt.js";
import type { Verification } from "./result.js";

const KEY = "ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c";
const PAYLOAD = { prompt: "Issue $42.50 refund to order #1024?" };
const BODY: JsonObject = {
  agent_id: "agent-support",
  allowed: false,
  capability_id: "<none>",
  classification: "submit",
  denial_reason: "capability required for Submit events",
  event_id: "evt_01HZ8A3",
  event_type: "form_action",
  id: "agui-evt_01HZ8A3",
  kernel_key: KEY,
  payload_hash: "7e8d81c767c35f698d7bf9aa2dad078444967217999d166c33183cf1610712b7",
  session_id: "sess_01",
  target: { component_id: "confirm-refund", component_type: "modal" },
  timestamp: 1_744_993_928,
  transport: "web_socket",
};
const GOLDEN: Record<string, JsonObject> = {
  "Chio's code: bare hex and web_socket": {
    ...BODY,
    signature:
      "bfb4a707ca9218a4d65e0bbefa27832e26c091cd9d47adad09d813b2e8fa5e0232ac6743be6c81adaebd0c6b12c5fe4474f21629bb7f77c46385872c8419470f",
  },
  "bare hex and websocket": {
    ...BODY,
    transport: "websocket",
    signature:
      "2c72952badee3cda712ecda67def8f3aa24a9a532645b68051ebd5f79ea8fc9ea425084692d016dbb3cf5d58d04350e03b1498cbbeb7d32cca0c828579e78808",
  },
  "the published guide: prefixes and websocket": {
    ...BODY,
    transport: "websocket",
    kernel_key: `ed25519:${KEY}`,
    signature:
      "ed25519:2a494ed9125cb2862034af8d803b6d42bd2d19db92936a31dc74d406edae1bfab60be0212062cd3cc13319e0f4c9d0d43f52ecb1603f0c8d7cb33c0ed478c203",
  },
};

const statuses = (result: Verification) =>
  Object.fromEntries(result.checks.map(({ id, status }) => [id, status]));
const codes = (result: Verification) => result.checks.flatMap(({ code }) => code ?? []);

for (const [name, receipt] of Object.entries(GOLDEN)) {
  test(`the golden receipt in the encoding of ${name} verifies as received`, async () => {
    const result = await verifyReceipt(canonicalJson(receipt), {
      trustedKeys: [KEY],
      event: { event_id: "evt_01HZ8A3", payload: PAYLOAD },
    });
    expect(statuses(result)).toEqual({
      "receipt-format": "held",
      "receipt-signature": "held",
      "deny-signed-singly": "held",
      "payload-hash": "held",
    });
    expect(result).toMatchObject({ valid: true, signerTrusted: true });
  });
}

test("another encoding of the same receipt is another receipt", async () => {
  const [chio, , guide] = Object.values(GOLDEN) as [JsonObject, JsonObject, JsonObject];
  for (const changed of [
    { ...chio, transport: "websocket" },
    { ...guide, kernel_key: KEY },
    { ...guide, extra: 1 },
  ]) {
    expect(statuses(await verifyReceipt(changed))["receipt-signature"]).toBe("failed");
  }
});

test("trust in the signer is separate from validity", async () => {
  const receipt = Object.values(GOLDEN)[2]!;
  const other = "ab".repeat(32);
  expect(await verifyReceipt(receipt)).toMatchObject({ valid: true, signerTrusted: null });
  expect(await verifyReceipt(receipt, { trustedKeys: [] })).toMatchObject({
    valid: true,
    signerTrusted: false,
  });
  expect(await verifyReceipt(receipt, { trustedKeys: [other] })).toMatchObject({
    valid: true,
    signerTrusted: false,
  });
  expect(await verifyReceipt(receipt, { trustedKeys: [other, `ed25519:${KEY}`] })).toMatchObject({
    signerTrusted: true,
  });
  await expect(verifyReceipt(receipt, { trustedKeys: ["not a key"] })).rejects.toMatchObject({
    code: "ERR_RECEIPT_SIGNATURE",
  });
});

test("a different copy of the event is found", async () => {
  const receipt = Object.values(GOLDEN)[2]!;
  const result = await verifyReceipt(receipt, {
    event: { event_id: "e", payload: { prompt: "" } },
  });
  expect(statuses(result)["payload-hash"]).toBe("failed");
  expect(result.valid).toBe(false);
});

test("any changed bit of a signed receipt is found", async () => {
  const receipt = Object.values(GOLDEN)[2]!;
  const text = canonicalJson(receipt);
  await fc.assert(
    fc.asyncProperty(fc.nat(text.length - 1), fc.integer({ min: 0, max: 6 }), async (at, bit) => {
      const bytes = new TextEncoder().encode(text);
      bytes[at]! ^= 1 << bit;
      // Hex is case-insensitive: the signature then has the same value.
      fc.pre(new TextDecoder().decode(bytes).toLowerCase() !== text.toLowerCase());
      expect((await verifyReceipt(bytes)).valid).toBe(false);
    }),
    { numRuns: 200 },
  );
});

test("bad input gets a coded failure and no exception", async () => {
  const good = Object.values(GOLDEN)[2]!;
  const cases: [string | JsonObject, string][] = [
    ["not JSON", "ERR_JSON_SYNTAX"],
    ["[]", "ERR_RECEIPT_MALFORMED"],
    [canonicalJson(good).replace("{", '{"agent_id":"a",'), "ERR_JSON_DUPLICATE_KEY"],
    [{ ...good, allowed: 1 }, "ERR_RECEIPT_MALFORMED"],
    [{ ...good, kernel_key: "ed25519:00" }, "ERR_RECEIPT_SIGNATURE"],
    [{ ...good, signature: "ed25519:00" }, "ERR_RECEIPT_SIGNATURE"],
    [{ ...good, signature: `p256:${"00".repeat(64)}` }, "ERR_RECEIPT_SIGNATURE"],
    [{ ...good, signature: "ed25519-batch:0/1:00:" }, "ERR_RECEIPT_SIGNATURE"],
    [{ ...good, agent_id: "\ud800" }, "ERR_JSON_NOT_CANONICAL"],
  ];
  for (const [input, code] of cases) {
    const result = await verifyReceipt(input);
    expect(result.valid).toBe(false);
    expect(codes(result)).toEqual([code]);
  }
});

test("every receipt of a batch verifies alone, in groups of any size", async () => {
  const signer = sampleSigner(7);
  for (const size of [1, 2, 3, 5, 8, 13, 64, 100]) {
    const bodies = Array.from({ length: size }, (_, at) => sampleBody(at * 7, signer));
    const signatures = buildBatch(bodies.map(receiptBody), (message) => signer.sign(message));
    for (const [at, body] of bodies.entries()) {
      const result = await verifyReceipt(
        { ...body, signature: signatures[at]! },
        { event: sampleEvent(at * 7) },
      );
      expect(result).toMatchObject({ valid: true });
    }
  }
});

test("a batch signature is invalid for another receipt, place, size, root or path", async () => {
  const signer = sampleSigner(7);
  const bodies = Array.from({ length: 5 }, (_, at) => sampleBody(at * 7, signer));
  const signatures = buildBatch(bodies.map(receiptBody), (message) => signer.sign(message));
  const [, second = ""] = signatures;
  expect(second).toMatch(/^ed25519-batch:1\/5:[0-9a-f]{128}:[A-Za-z0-9_-]{129}$/);
  const wrong = [
    signatures[0]!,
    second.replace(":1/5:", ":0/5:"),
    second.replace(":1/5:", ":1/6:"),
    second.replace(":1/5:", ":1/4:"),
    second.slice(0, -43),
    `${second}${"A".repeat(43)}`,
    second.replace(/:[0-9a-f]{128}:/, `:${"00".repeat(64)}:`),
  ];
  for (const signature of wrong) {
    const result = await verifyReceipt({ ...bodies[1]!, signature });
    expect(statuses(result)["receipt-signature"]).toBe("failed");
  }
  for (const signature of [
    second.replace(":1/5:", ":5/5:"),
    second.replace(":1/5:", ":1/65537:"),
    second.replace(":1/5:", ":01/5:"),
    `${second}A`,
    `${second.slice(0, -1)}=`,
  ]) {
    expect(codes(await verifyReceipt({ ...bodies[1]!, signature }))).toEqual([
      "ERR_RECEIPT_SIGNATURE",
    ]);
  }
});

test("the root signature of a batch cannot be passed off as the signature of one receipt", async () => {
  const signer = sampleSigner(7);
  const body = sampleBody(0, signer);
  const [batch = ""] = buildBatch([receiptBody(body)], (message) => signer.sign(message));
  const rootSignature = /:([0-9a-f]{128}):/.exec(batch)?.[1] ?? "";
  const result = await verifyReceipt({ ...body, signature: `ed25519:${rootSignature}` });
  expect(statuses(result)["receipt-signature"]).toBe("failed");
});

test("a blocked event that shares a batch signature is reported", async () => {
  const signer = sampleSigner(7);
  const body = sampleBody(3, signer);
  const [signature = ""] = buildBatch([receiptBody(body)], (message) => signer.sign(message));
  const result = await verifyReceipt({ ...body, signature });
  expect(statuses(result)).toMatchObject({
    "receipt-signature": "held",
    "deny-signed-singly": "failed",
  });
  expect(result.valid).toBe(false);
});

test("a batch holds 1 to 65,536 receipts", () => {
  const group = (size: number) => Array.from({ length: size }, () => new Uint8Array(0));
  expect(() => prepareBatch([])).toThrow(TypeError);
  expect(prepareBatch(group(65_536)).message.length).toBe(65);
  expect(() => prepareBatch(group(65_537))).toThrow(TypeError);
  expect(() => prepareBatch(group(1)).signatures(new Uint8Array(63))).toThrow(TypeError);
});
