import { CountersignError, isWellFormed } from "@countersign/core";
import type { BinaryWriter } from "@bufbuild/protobuf/wire";
import type { ProtoNote, ProtoNoteSink } from "./note.js";

/** One frame being written. */
export type WriteState = {
  readonly writer: BinaryWriter;
  readonly maxDepth: number;
  readonly onNote: ProtoNoteSink | undefined;
  /** The path inside the event: member names and list positions, formatted only on demand. */
  readonly path: (string | number)[];
};

function pathOf(state: WriteState): string {
  return state.path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))
    .join("")
    .slice(1);
}

/** The error for an event that protobuf cannot carry; the path names members, never their values. */
export function unencodable(path: string, reason: string): CountersignError {
  return new CountersignError("ERR_PROTO_UNENCODABLE", `cannot encode ${path}: ${reason}`, {
    path,
    reason,
  });
}

/** The same for the place that is being written. */
export function unencodableHere(state: WriteState, reason: string): CountersignError {
  return unencodable(pathOf(state), reason);
}

/** Reports that the place being written is left out. */
export function noteLoss(state: WriteState, kind: LossKind): void {
  state.onNote?.({ kind, path: pathOf(state) });
}
type LossKind = Extract<ProtoNote, { path: string }>["kind"];

const BYTE_ORDER_MARK = "\uFEFF";

/**
 * Writes a string after proving that UTF-8 can hold it. Readers in JavaScript drop one U+FEFF at the start of every
 * string, so a string that begins with one is written with one more: the client reads what the gateway evaluated.
 */
export function writeText(state: WriteState, text: unknown): void {
  if (typeof text !== "string") throw unencodableHere(state, "it is not a string");
  if (!isWellFormed(text)) {
    throw unencodableHere(state, "it holds a lone surrogate");
  }
  state.writer.string(text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK + text : text);
}
