import { verifyEd25519 } from "@countersign/core/verify";

/** One signature to check; any of the messages will do (Chio signs with or without `schema`). */
export type SignatureCheck = {
  readonly key: Uint8Array;
  readonly messages: readonly Uint8Array[];
  readonly signature: Uint8Array;
};

/** Whether all signatures hold, in order, stopping at the first that does not. At once where the runtime can. */
export function verifySignatures(checks: readonly SignatureCheck[]): boolean | Promise<boolean> {
  for (const [index, check] of checks.entries()) {
    const held = verifyOne(check);
    if (typeof held !== "boolean") return verifyRest(held, checks.slice(index + 1));
    if (!held) return false;
  }
  return true;
}

async function verifyRest(
  first: Promise<boolean>,
  rest: readonly SignatureCheck[],
): Promise<boolean> {
  return (await first) && (await verifySignatures(rest));
}

function verifyOne(check: SignatureCheck): boolean | Promise<boolean> {
  for (const [index, message] of check.messages.entries()) {
    const held = verifyEd25519(check.key, message, check.signature);
    if (typeof held !== "boolean") {
      const rest = { ...check, messages: check.messages.slice(index + 1) };
      return held.then((answer) => answer || verifyOne(rest));
    }
    if (held) return true;
  }
  return false;
}
