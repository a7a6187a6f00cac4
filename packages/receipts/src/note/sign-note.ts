import { utf8 } from "../receipt/canonical-text.js";
import { encodeNote, isNoteText } from "./note.js";
import { createNoteKey } from "./vkey.js";

/** A signer, wherever its private key is stored. */
export type MessageSigner = {
  readonly publicKey: Uint8Array;
  sign(message: Uint8Array): Uint8Array | Promise<Uint8Array>;
};

/** Signs a text as a C2SP note under a key name. */
export async function signNote(name: string, text: string, signer: MessageSigner): Promise<string> {
  const key = createNoteKey(name, signer.publicKey);
  if (!isNoteText(text) || text === "\n") {
    throw new TypeError("a note text is lines without control characters, ending in a line feed");
  }
  const signature = await signer.sign(utf8(text));
  if (signature.length !== 64) throw new TypeError("an Ed25519 signature is 64 bytes");
  return encodeNote({ text, signatures: [{ name, keyId: key.id, signature }] });
}
