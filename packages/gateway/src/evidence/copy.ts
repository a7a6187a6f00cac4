import { isJsonObject } from "@countersign/core";
import { parseStored } from "../store/stored-text.js";
import { damaged } from "./seal.js";

/** The kept parts of one entry. */
export type EvidenceCopy = {
  /** The canonical JSON that was hashed, or its redacted form; absent if no content was kept. */
  readonly payload?: string;
  /** The same of the form that the client received, if the gateway removed a part. */
  readonly emitted?: string;
  /** The places that the policy removed, as JSON Pointers; a redacted copy does not have the hash of the log. */
  readonly redacted?: readonly string[];
  /** The reason for absent content: the policy keeps none, or the payload was too large. */
  readonly omitted?: EvidenceOmission;
};

/** Why an entry has a record without content. */
export type EvidenceOmission = "policy" | "size";

/** Writes a copy as the text that is encrypted. */
export function encodeCopy(copy: EvidenceCopy): string {
  return JSON.stringify({ v: 1, ...copy });
}

/** Reads the decrypted text of an entry's copy. */
export function decodeCopy(seq: number, text: string): EvidenceCopy {
  const value = parseStored(text);
  if (!isJsonObject(value) || value["v"] !== 1) throw damaged(seq, "its form is unknown");
  const { payload, emitted, redacted, omitted } = value;
  return {
    ...(typeof payload === "string" ? { payload } : {}),
    ...(typeof emitted === "string" ? { emitted } : {}),
    ...(Array.isArray(redacted) ? { redacted: redacted.map(String) } : {}),
    ...(omitted === "policy" || omitted === "size" ? { omitted } : {}),
  };
}
