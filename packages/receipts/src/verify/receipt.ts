import type { JsonObject, JsonValue } from "@countersign/core";
import { canonicalJson, isCountersignError, parseJson } from "@countersign/core";
import { encodeKeyText, parseKeyText } from "../keys/key-text.js";
import type { SignatureVerifier } from "../note/verify-note.js";
import { utf8 } from "../receipt/canonical-text.js";
import { assertReceivedReceipt } from "../receipt/check-receipt.js";
import { eventPayload, payloadHash } from "../receipt/payload.js";
import type { Check, SignerTrust, Verification } from "./result.js";
import { conclude, failed, failedBy, held, skipped } from "./result.js";
import type { ReceiptSignatures } from "./signature.js";
import { createReceiptSignatures, isBatchSignature } from "./signature.js";

/** Options of {@link verifyReceipt}. */
export type ReceiptOptions = {
  /** Receipt keys the verifier trusts, `ed25519:` and hex or bare hex. */
  trustedKeys?: readonly string[];
  /** The auditor's own copy of the event (Chio envelope or native AG-UI event). */
  event?: JsonValue;
  /** Replaces the Ed25519 implementation of the runtime. */
  verifySignature?: SignatureVerifier;
};

/** Larger than any receipt that fits a log entry. */
const MAX_RECEIPT_BYTES = 65_535;

/** One encoding for every key, so that lists can be compared. */
export function normalKey(key: string): string {
  return encodeKeyText(parseKeyText(key));
}

function receiptTrust(kernelKey: string, trustedKeys: readonly string[] | undefined): SignerTrust {
  const key = normalKey(kernelKey);
  const trusted = trustedKeys === undefined ? null : trustedKeys.includes(key);
  return { key, role: "receipt", trusted };
}

function checkDeny(receipt: JsonObject): Check {
  const batched = isBatchSignature(String(receipt["signature"]));
  if (receipt["allowed"] === true) return held("deny-signed-singly", "the event was allowed");
  return batched
    ? failed("deny-signed-singly", "a blocked event shares a batch signature")
    : held("deny-signed-singly", "the signature is its own");
}

function checkPayload(receipt: JsonObject, event: JsonValue | undefined): Check {
  if (event === undefined) return skipped("payload-hash", "no copy of the event was given");
  try {
    return payloadHash(eventPayload(event)) === receipt["payload_hash"]
      ? held("payload-hash", "the copy hashes to the same value")
      : failed("payload-hash", "the copy hashes to another value");
  } catch (error) {
    return failedBy("payload-hash", error);
  }
}

async function checkSignature(receipt: JsonObject, signatures: ReceiptSignatures): Promise<Check> {
  try {
    const { signature, ...body } = receipt;
    // Members exactly as received: the encoding of key and transport is inside the signed bytes.
    const bytes = utf8(canonicalJson(body));
    const holds = await signatures.verify(bytes, String(receipt["kernel_key"]), String(signature));
    const kind = isBatchSignature(String(signature)) ? "batch" : "single";
    return holds
      ? held("receipt-signature", `the ${kind} signature is valid`)
      : failed("receipt-signature", `the ${kind} signature is not valid`);
  } catch (error) {
    return failedBy("receipt-signature", error);
  }
}

/** Checks one receipt, without the conclusion. */
export async function checkReceipt(
  value: JsonValue,
  options: ReceiptOptions,
): Promise<{ checks: Check[]; signers: SignerTrust[] }> {
  const checks: Check[] = [];
  const signers: SignerTrust[] = [];
  const trustedKeys = options.trustedKeys?.map(normalKey);
  try {
    assertReceivedReceipt(value);
    signers.push(receiptTrust(String(value["kernel_key"]), trustedKeys));
    checks.push(held("receipt-format", "all fields are present"));
  } catch (error) {
    checks.push(failedBy("receipt-format", error));
    return { checks, signers };
  }
  checks.push(
    await checkSignature(value, createReceiptSignatures(options.verifySignature)),
    checkDeny(value),
    checkPayload(value, options.event),
  );
  return { checks, signers };
}

/** Verifies one receipt: JSON text, its bytes, or the parsed value. */
export async function verifyReceipt(
  input: string | Uint8Array | JsonObject,
  options: ReceiptOptions = {},
): Promise<Verification> {
  let value: JsonValue;
  try {
    const isText = typeof input === "string" || input instanceof Uint8Array;
    value = isText ? parseJson(input, { maxBytes: MAX_RECEIPT_BYTES }) : input;
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    return conclude([failedBy("receipt-format", error)], []);
  }
  const { checks, signers } = await checkReceipt(value, options);
  return conclude(checks, signers);
}
