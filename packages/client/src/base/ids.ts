import { encodeHex } from "@countersign/core";

/** The kinds of id; `randomId` gives the same form for all of them. */
export type IdKind = "thread" | "run" | "message" | "toolCall";

/** Gives a fresh id. */
export type MintId = (kind: IdKind) => string;

/**
 * A random UUID (version 4): LangGraph refuses thread ids of another form.
 *
 * Not `crypto.randomUUID`, which browsers have on secure origins alone.
 */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return encodeHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/u, "$1-$2-$3-$4-");
}
