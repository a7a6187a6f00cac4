import type { JsonObject } from "@countersign/core";
import { decodeHex } from "@countersign/core";
import { own } from "../reading/read.js";
import type { SignatureCheck } from "../model/signatures.js";
import type { LosslessDocument } from "./lossless.js";
import type { ChioToken } from "./model.js";

/** The schema of the supported tokens; it is part of the signed text. */
export const CHIO_SCHEMA = "chio.capability.v1";

const KEY = /^(?:ed25519:)?([0-9a-f]{64})$/;
const SIGNATURE = /^(?:ed25519:)?([0-9a-f]{128})$/;

/** The bare hex of an Ed25519 key; `undefined` for other key types. */
export function keyHex(text: string): string | undefined {
  return KEY.exec(text)?.[1];
}

/**
 * The signatures of the token and of each link; `undefined` when one has an unsupported algorithm.
 */
export function signatureChecks(
  document: LosslessDocument,
  token: ChioToken,
  issuerKey: Uint8Array,
): SignatureCheck[] | undefined {
  if (token.algorithm !== undefined && token.algorithm !== "ed25519") return undefined;
  const encode = (part: JsonObject): Uint8Array =>
    new TextEncoder().encode(document.canonical(part));
  const json = document.json as JsonObject;
  const { signature: _signature, algorithm: _algorithm, schema: _schema, ...body } = json;
  const signature = SIGNATURE.exec(token.signature)?.[1];
  if (signature === undefined) return undefined;
  // Older issuers signed plain tokens without the schema; newer features always include it.
  const isPlain = token.budgetShare === undefined && !token.has.attenuation && !token.has.caveats;
  const checks: SignatureCheck[] = [
    {
      key: issuerKey,
      messages: [encode({ ...body, schema: CHIO_SCHEMA }), ...(isPlain ? [encode(body)] : [])],
      signature: decodeHex(signature),
    },
  ];
  const links = own(json, "delegation_chain");
  for (const [index, link] of token.chain.entries()) {
    const key = keyHex(link.delegator);
    const linkSignature = SIGNATURE.exec(link.signature)?.[1];
    if (key === undefined || linkSignature === undefined || keyHex(link.delegatee) === undefined)
      return undefined;
    const { signature: _ownSignature, ...rest } = (links as JsonObject[])[index] ?? {};
    checks.push({
      key: decodeHex(key),
      messages: [encode(rest)],
      signature: decodeHex(linkSignature),
    });
  }
  return checks;
}
