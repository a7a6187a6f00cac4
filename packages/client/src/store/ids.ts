import { encodeHex } from "@countersign/core";

/** What an id is minted for. */
export type IdKind = "thread" | "run" | "message" | "toolCall";

/** Gives a fresh id; randomness comes in through this door. */
export type MintId = (kind: IdKind) => string;

/** Random ids from the runtime's cryptography. */
export function randomId(kind: IdKind): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  // `randomUUID` exists on secure origins alone, and chats are developed on plain ones too.
  return `${kind}-${encodeHex(bytes)}`;
}
