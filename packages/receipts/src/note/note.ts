import type { CountersignError } from "@countersign/core";
import { concatBytes, decodeBase64, encodeBase64, isWellFormed } from "@countersign/core";
import { utf8 } from "../receipt/canonical-text.js";
import { isNoteName } from "./vkey.js";
import { formatError } from "../receipt/errors.js";

/** One signature line: the signer's claimed name, and the bytes after the key id. */
export type NoteSignature = {
  readonly name: string;
  readonly keyId: Uint8Array;
  readonly signature: Uint8Array;
};

/** A parsed note. Do not use its text before a signature was verified. */
export type Note = {
  /** The signed text, including its last line feed. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
};

/** Larger than any checkpoint with many cosigners. */
export const MAX_NOTE_BYTES = 1_000_000;
/** The specification requires at least 16. */
export const MAX_NOTE_SIGNATURES = 64;

const CONTROL = /[^\P{Cc}\n\u0080-\u009f]/u;
const LINE = /^— (\S+) ([A-Za-z0-9+/]+={0,2})$/;

function malformed(reason: string): CountersignError {
  return formatError("ERR_NOTE_MALFORMED", `not a signed note: ${reason}`, { reason });
}

function parseSignature(line: string): NoteSignature {
  const [, name = "", encoded = ""] = LINE.exec(line) ?? [];
  if (!isNoteName(name)) throw malformed("signature line");
  let blob: Uint8Array;
  try {
    blob = decodeBase64(encoded);
  } catch {
    throw malformed("signature base64");
  }
  if (blob.length < 5) throw malformed("signature length");
  return { name, keyId: blob.slice(0, 4), signature: blob.slice(4) };
}

/** Whether a text can be the signed part of a note: lines without control characters. */
export function isNoteText(text: string): boolean {
  return text.endsWith("\n") && !CONTROL.test(text) && isWellFormed(text);
}

/** Reads a C2SP signed note: text, empty line, signature lines. */
export function parseNote(note: string): Note {
  if (note.length > MAX_NOTE_BYTES) throw malformed("too large");
  // The text may contain empty lines: the last one separates.
  const split = note.lastIndexOf("\n\n");
  if (split < 0) throw malformed("no empty line before the signatures");
  const text = note.slice(0, split + 1);
  const block = note.slice(split + 2);
  if (!isNoteText(text) || text === "\n") throw malformed("text");
  if (!block.endsWith("\n")) throw malformed("last line has no line feed");
  const lines = block.slice(0, -1).split("\n");
  if (lines.length > MAX_NOTE_SIGNATURES) throw malformed("too many signatures");
  return { text, signatures: lines.map(parseSignature) };
}

/** One signature line with its line feed, to be appended to a note. */
export function encodeNoteSignature(signature: NoteSignature): string {
  const blob = concatBytes(signature.keyId, signature.signature);
  return `— ${signature.name} ${encodeBase64(blob)}\n`;
}

/** Text and signature lines as one note. */
export function encodeNote(note: Note): string {
  if (!isNoteText(note.text)) throw new TypeError("a note text ends in a line feed");
  const { length } = note.signatures;
  // A note that could not be parsed again must not be written.
  if (length === 0 || length > MAX_NOTE_SIGNATURES) {
    throw new TypeError(`a note has 1 to ${MAX_NOTE_SIGNATURES} signatures`);
  }
  return `${note.text}\n${note.signatures.map(encodeNoteSignature).join("")}`;
}

/** The bytes a plain note signature covers. */
export function noteMessage(note: Note): Uint8Array {
  return utf8(note.text);
}
