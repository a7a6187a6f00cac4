import { verifyEd25519 } from "@countersign/core/verify";

/** One signature to check; any of the messages may match (Chio signs with or without `schema`). */
export type SignatureCheck = {
  readonly key: Uint8Array;
  readonly messages: readonly Uint8Array[];
  readonly signature: Uint8Array;
};

/** Verifies an Ed25519 signature; synchronous in Node and asynchronous in browsers. */
export type VerifySignature = typeof verifyEd25519;

/**
 * Whether all signatures are valid, in order, up to the first invalid one. Synchronous if the
 * runtime is.
 */
export function verifySignatures(
  checks: readonly SignatureCheck[],
  verify: VerifySignature = verifyEd25519,
): boolean | Promise<boolean> {
  for (const [index, check] of checks.entries()) {
    const held = verifyOne(check, verify);
    if (typeof held !== "boolean") return verifyRest(held, checks.slice(index + 1), verify);
    if (!held) return false;
  }
  return true;
}

async function verifyRest(
  first: Promise<boolean>,
  rest: readonly SignatureCheck[],
  verify: VerifySignature,
): Promise<boolean> {
  return (await first) && (await verifySignatures(rest, verify));
}

function verifyOne(check: SignatureCheck, verify: VerifySignature): boolean | Promise<boolean> {
  for (const [index, message] of check.messages.entries()) {
    const held = verify(check.key, message, check.signature);
    if (typeof held !== "boolean") {
      const rest = { ...check, messages: check.messages.slice(index + 1) };
      return held.then((answer) => answer || verifyOne(rest, verify));
    }
    if (held) return true;
  }
  return false;
}
