import type { MessageSigner } from "../note/sign-note.js";
import type { KeyRecord, KeyRecordBody } from "./history.js";
import { KEY_RECORD_SCHEMA, keyRecordHash, keyRecordMessage } from "./history.js";
import { encodeKeyText, encodeSignatureText } from "./key-text.js";

/** The members of a new key record other than the key. */
export type KeyRecordFacts = {
  /** Milliseconds since the epoch. */
  createdAt: number;
  /** Size of the log when the key came into use. */
  firstEntry: number;
  /** Public keys that no longer sign. */
  retires?: readonly Uint8Array[];
};

/** The first line of a key history, signed by the key itself. */
export async function startKeyHistory(
  signer: MessageSigner,
  facts: KeyRecordFacts,
): Promise<KeyRecord> {
  const body: KeyRecordBody = {
    schema: KEY_RECORD_SCHEMA,
    number: 0,
    key: encodeKeyText(signer.publicKey),
    created_at: facts.createdAt,
    first_entry: facts.firstEntry,
  };
  return { ...body, signature: encodeSignatureText(await signer.sign(keyRecordMessage(body))) };
}

/** The next line of a key history: the old key signs the new one, the new key proves possession. */
export async function extendKeyHistory(
  last: KeyRecord,
  lastSigner: MessageSigner,
  signer: MessageSigner,
  facts: KeyRecordFacts,
): Promise<KeyRecord> {
  if (last.key !== encodeKeyText(lastSigner.publicKey)) {
    throw new TypeError("the key of the last record signs the next one");
  }
  const body: KeyRecordBody = {
    schema: KEY_RECORD_SCHEMA,
    number: last.number + 1,
    key: encodeKeyText(signer.publicKey),
    created_at: facts.createdAt,
    first_entry: facts.firstEntry,
    previous_hash: keyRecordHash(last),
  };
  if (facts.retires !== undefined) body.retires = facts.retires.map(encodeKeyText);
  const message = keyRecordMessage(body);
  return {
    ...body,
    signature: encodeSignatureText(await lastSigner.sign(message)),
    possession: encodeSignatureText(await signer.sign(message)),
  };
}
