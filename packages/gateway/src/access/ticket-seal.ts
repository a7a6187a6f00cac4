import { decodeBase64Url, encodeBase64Url, parseJson } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/** Length of the key that seals tickets. */
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = "aes-256-gcm";
/** The longest ticket that is parsed: a principal may take 1,300 bytes before base64, plus the other fields. */
export const MAX_TICKET_LENGTH = 4096;

/** Encrypts and authenticates the content of a ticket: a leaked URL reveals nothing, and a ticket cannot be forged. */
export type TicketSeal = {
  seal(content: JsonObject): string;
  /** `undefined` for anything that was not sealed with this key. */
  open(ticket: string): JsonObject | undefined;
};

/** A seal with one key: AES-256-GCM with random nonces, safe for 2³² tickets of at most `maxLength` characters. */
export function createTicketSeal(
  key: Uint8Array = randomBytes(KEY_BYTES),
  maxLength: number = MAX_TICKET_LENGTH,
): TicketSeal {
  if (key.byteLength !== KEY_BYTES) throw new TypeError("a ticket key has 32 bytes");
  return {
    seal: (content) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce);
      const body = [cipher.update(JSON.stringify(content), "utf8"), cipher.final()];
      return encodeBase64Url(Buffer.concat([nonce, ...body, cipher.getAuthTag()]));
    },
    open: (ticket) => {
      if (ticket.length > maxLength) return undefined;
      try {
        const bytes = decodeBase64Url(ticket);
        const nonce = bytes.subarray(0, NONCE_BYTES);
        const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
        decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
        const body = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
        return parseJson(Buffer.concat([body, decipher.final()])) as JsonObject;
      } catch {
        // The caller does not learn what is wrong with it.
        return undefined;
      }
    },
  };
}

/** Purposes for which gateways seal data. Data sealed for one purpose cannot be opened for another. */
export type SealPurpose = "tickets" | "orders" | "streams" | "frames" | "signals" | "handed";

/** Derives the key for one purpose from a private key that the gateways share. */
export function deriveSealKey(privateKey: string, purpose: SealPurpose): Uint8Array {
  const info = `countersign ${purpose} 1`;
  return new Uint8Array(hkdfSync("sha256", privateKey, "", info, KEY_BYTES));
}
