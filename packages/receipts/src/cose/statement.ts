import type { LogEntry } from "../entry/entry.js";
import { MAX_ENTRY_BYTES } from "../entry/entry.js";
import type { MessageSigner } from "../note/sign-note.js";
import type { CborValue } from "./cbor.js";
import { malformed } from "./cbor.js";
import { keyThumbprint } from "./cose-key.js";
import type { ProtectedHeader, Sign1 } from "./sign1.js";
import { createSign1, decodeProtected, decodeSign1, encodeSign1, HEADER } from "./sign1.js";

/** The media type of a signed statement (RFC 9943). */
export const STATEMENT_TYPE = "application/scitt-statement+cose";
/** The media type of a log entry: canonical JSON, the bytes that the tree hashes. */
export const ENTRY_CONTENT_TYPE = "application/vnd.countersign.entry+json";

/** Entry, protected headers and receipt; the receipt has its own limit. */
export const MAX_STATEMENT_BYTES = MAX_ENTRY_BYTES + 16 * 1024;

/** A signed statement; with a receipt it is a transparent statement (RFC 9943). */
export type SignedStatement = {
  readonly header: ProtectedHeader;
  readonly signed: Sign1;
  readonly payload: Uint8Array;
  /** The encoded receipt. */
  readonly receipt?: Uint8Array;
};

/** Signs a payload as a statement of an issuer. */
export async function encodeStatement(
  statement: {
    readonly issuer: string;
    readonly subject: string;
    readonly contentType: string;
    readonly payload: Uint8Array;
    readonly receipt?: Uint8Array;
  },
  signer: MessageSigner,
): Promise<Uint8Array<ArrayBuffer>> {
  const { issuer, subject, contentType, payload, receipt } = statement;
  const keyId = keyThumbprint(signer.publicKey);
  const header = { keyId, type: STATEMENT_TYPE, contentType, issuer, subject };
  const { protectedBytes, signature } = await createSign1(header, payload, signer);
  const unprotected = new Map<number, CborValue>();
  if (receipt !== undefined) unprotected.set(HEADER.receipts, [receipt]);
  return encodeSign1({ protectedBytes, unprotected, payload, signature });
}

/** Decodes a statement with its payload; the receipt, if any, must be the only unprotected parameter. */
export function decodeStatement(
  bytes: Uint8Array,
  contentType: string,
  maxBytes = MAX_STATEMENT_BYTES,
): SignedStatement {
  const part = "the statement";
  const signed = decodeSign1(part, bytes, maxBytes);
  const header = decodeProtected(part, signed.protectedBytes, {
    type: STATEMENT_TYPE,
    contentType,
  });
  const { payload, unprotected } = signed;
  if (payload === null) throw malformed(part, "the payload is detached");
  if (unprotected.size === 0) return { header, signed, payload };
  const list = unprotected.get(HEADER.receipts);
  if (unprotected.size !== 1 || !Array.isArray(list) || list.length !== 1) {
    throw malformed(part, "the unprotected header is not exactly one receipt");
  }
  const [receipt] = list;
  if (!(receipt instanceof Uint8Array)) throw malformed(part, "the receipt is not a byte string");
  return { header, signed, payload, receipt };
}

/**
 * The subject of an entry's statement: its run, or the event where no run is. Percent-encoding keeps
 * colons of foreign ids out, so that the text is never read as a URI.
 */
export function entrySubject({ run_id: run, receipt }: LogEntry): string {
  return run === undefined
    ? `event/${encodeURIComponent(receipt.event_id)}`
    : `run/${encodeURIComponent(run)}`;
}
