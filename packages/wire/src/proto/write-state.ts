import { CountersignError } from "@countersign/core";
import type { BinaryWriter } from "@bufbuild/protobuf/wire";
import type { ProtoNote, ProtoNoteSink } from "./note.js";

/** One frame being written. */
export type WriteState = {
  readonly writer: BinaryWriter;
  readonly maxDepth: number;
  readonly onNote: ProtoNoteSink | undefined;
};

/** The error for an event that protobuf cannot carry; the path names members, never their values. */
export function unencodable(path: string, reason: string): CountersignError {
  return new CountersignError("ERR_PROTO_UNENCODABLE", `cannot encode ${path}: ${reason}`, {
    path,
    reason,
  });
}

/** Reports what is left out. */
export function noteLoss(state: WriteState, kind: LossKind, path: string): void {
  state.onNote?.({ kind, path });
}
type LossKind = Extract<ProtoNote, { path: string }>["kind"];

// ES2024, in every supported runtime; the type library of the compiler target lacks it.
type WellFormedText = { isWellFormed(): boolean };

/** Writes a string after proving that UTF-8 can hold it. */
export function writeText(state: WriteState, text: unknown, path: string): void {
  if (typeof text !== "string") throw unencodable(path, "it is not a string");
  if (!(text as unknown as WellFormedText).isWellFormed()) {
    throw unencodable(path, "it holds a lone surrogate");
  }
  state.writer.string(text);
}
