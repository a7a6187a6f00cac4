import type { JsonValue } from "@countersign/core";
import {
  canonicalJson,
  concatBytes,
  decodeBase64,
  encodeBase64,
  isJsonObject,
  ownMember,
  parseJson,
} from "@countersign/core";
import type { MessageSigner } from "../note/sign-note.js";
import { utf8 } from "../receipt/canonical-text.js";
import { formatError } from "../receipt/errors.js";

/** A run has at most some thousands of policies; ids have limits of their own. */
export const MAX_ENVELOPE_BYTES = 1024 * 1024;
const SIGNATURE_BYTES = 64;

/** A DSSE envelope with one Ed25519 signature. */
export type DsseEnvelope = {
  readonly payloadType: string;
  readonly payload: Uint8Array;
  /** A hint, not signed. */
  readonly keyId: string;
  readonly signature: Uint8Array;
};

/** A coded error about a part of a DSSE envelope or of the statement in it. */
export function malformedDsse(part: string, reason: string): Error {
  return formatError("ERR_DSSE_MALFORMED", `${part}: ${reason}`, { part, reason });
}

/** The pre-authentication encoding: the bytes that the signature of an envelope covers. */
export function preAuthEncoding(payloadType: string, payload: Uint8Array): Uint8Array {
  const type = utf8(payloadType);
  const head = `DSSEv1 ${type.length} ${payloadType} ${payload.length} `;
  return concatBytes(utf8(head), payload);
}

/** Signs a payload and writes the envelope as canonical JSON. */
export async function signEnvelope(
  payloadType: string,
  payload: Uint8Array,
  keyId: string,
  signer: MessageSigner,
): Promise<string> {
  const signature = await signer.sign(preAuthEncoding(payloadType, payload));
  return encodeEnvelope({ payloadType, payload, keyId, signature });
}

/** Writes an envelope as canonical JSON. */
export function encodeEnvelope({ payloadType, payload, keyId, signature }: DsseEnvelope): string {
  return canonicalJson({
    payload: encodeBase64(payload),
    payloadType,
    signatures: [{ keyid: keyId, sig: encodeBase64(signature) }],
  });
}

/** Reads an envelope with exactly one signature; only its canonical form is one. */
export function decodeEnvelope(text: string): DsseEnvelope {
  const part = "the envelope";
  const value = parsed(part, () => parseJson(text, { maxBytes: MAX_ENVELOPE_BYTES }));
  if (!isJsonObject(value)) throw malformedDsse(part, "not an object");
  const [payloadType, payload] = [ownMember(value, "payloadType"), ownMember(value, "payload")];
  const list = ownMember(value, "signatures");
  if (typeof payloadType !== "string") throw malformedDsse(part, "payloadType");
  if (!Array.isArray(list) || list.length !== 1) throw malformedDsse(part, "not one signature");
  const [one] = list;
  if (!isJsonObject(one)) throw malformedDsse(part, "signature");
  const keyId = ownMember(one, "keyid");
  if (typeof keyId !== "string") throw malformedDsse(part, "keyid");
  const envelope = {
    payloadType,
    keyId,
    payload: bytesOf("payload", payload),
    signature: bytesOf("sig", ownMember(one, "sig")),
  };
  if (envelope.signature.length !== SIGNATURE_BYTES) throw malformedDsse(part, "sig");
  if (encodeEnvelope(envelope) !== text.trimEnd()) throw malformedDsse(part, "not canonical JSON");
  return envelope;
}

function bytesOf(member: string, value: JsonValue | undefined): Uint8Array {
  if (typeof value !== "string") throw malformedDsse("the envelope", member);
  return parsed("the envelope", () => decodeBase64(value));
}

function parsed<Value>(part: string, read: () => Value): Value {
  try {
    return read();
  } catch (cause) {
    throw formatError(
      "ERR_DSSE_MALFORMED",
      `${part} cannot be read`,
      { part, reason: "text" },
      cause,
    );
  }
}
