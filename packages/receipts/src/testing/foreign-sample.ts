import type { JsonObject } from "@countersign/core";
import { canonicalJson, encodeHex } from "@countersign/core";
import { createSigner, importPrivateKey } from "@countersign/core/sign";

const signer = createSigner(importPrivateKey(new Uint8Array(32).fill(9)));

/** A receipt as another protocol's proxy would write it, signed over its canonical body. */
export function foreignSample(members: JsonObject): JsonObject {
  const body: JsonObject = { tool: "refund", kernel_key: encodeHex(signer.publicKey), ...members };
  const signature = signer.sign(new TextEncoder().encode(canonicalJson(body)));
  return { ...body, signature: encodeHex(signature) };
}
