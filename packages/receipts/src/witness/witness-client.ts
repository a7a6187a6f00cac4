import { isCountersignError } from "@countersign/core";
import { verifyEd25519 } from "@countersign/core/verify";
import { parseDecimal } from "../checkpoint/checkpoint.js";
import type { OpenedCheckpoint } from "../checkpoint/verify-checkpoint.js";
import { openCheckpoint } from "../checkpoint/verify-checkpoint.js";
import type { Cosignature } from "../note/verify-note.js";
import { isFuture, verifyNote } from "../note/verify-note.js";
import { encodeNote, parseNote } from "../note/note.js";
import type { NoteKey } from "../note/vkey.js";
import type { AddCheckpoint } from "./add-checkpoint.js";
import { ADD_CHECKPOINT, encodeAddCheckpoint, newestPath, SIZE_TYPE } from "./add-checkpoint.js";

/** A witness as a log knows it. */
export type WitnessAddress = {
  /** Type 0x04 key; its name is the name of the witness. */
  readonly key: NoteKey;
  /** The URL below which it serves `add-checkpoint`. */
  readonly url: string;
};

/** The outcome of one submission. */
export type Submission =
  | { readonly kind: "cosigned"; readonly cosignature: Cosignature }
  /** The witness cosigned this size last, not the size that the request named. */
  | { readonly kind: "conflict"; readonly size: number }
  | { readonly kind: "refused"; readonly reason: string; readonly status?: number };

/** Options of {@link submitCheckpoint}. */
export type SubmitOptions = {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
};

const MAX_RESPONSE_BYTES = 64 * 1024;
/** Submits a checkpoint to a witness and verifies its cosignature. Never rejects. */
export async function submitCheckpoint(
  { key, url }: WitnessAddress,
  request: AddCheckpoint,
  options: SubmitOptions,
): Promise<Submission> {
  const response = await call(`${withoutSlash(url)}/${ADD_CHECKPOINT}`, options, {
    method: "POST",
    headers: { "content-type": "text/plain; charset=utf-8" },
    body: encodeAddCheckpoint(request),
  });
  if ("reason" in response) return { kind: "refused", reason: response.reason };
  const { status, type, text } = response;
  if (status === 409) {
    const size = type === SIZE_TYPE ? parseDecimal(text.replace(/\n$/, "")) : undefined;
    if (size !== undefined) return { kind: "conflict", size };
  }
  if (status !== 200) return { kind: "refused", status, reason: reasonOf(status, text) };
  return openResponse(key, request.checkpoint, text, options.now);
}

/** Takes the cosignature of a key out of a response; lines of other keys are ignored. */
async function openResponse(
  key: NoteKey,
  checkpoint: string,
  lines: string,
  now: number,
): Promise<Submission> {
  const bad = (reason: string): Submission => ({ kind: "refused", reason });
  try {
    const { text } = parseNote(checkpoint);
    const { cosignatures } = await verifyNote(`${text}\n${lines}`, [key], verifyEd25519);
    const [cosignature] = cosignatures;
    if (cosignature === undefined) return bad("no cosignature of its key in the response");
    if (isFuture(cosignature, now)) return bad("the time of its cosignature is in the future");
    return { kind: "cosigned", cosignature };
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    if (isCountersignError(error, "ERR_NOTE_UNVERIFIED") && error.facts.reason === "unknown-key") {
      return bad("no cosignature of its key in the response");
    }
    return bad(`an invalid response: ${error.message}`);
  }
}

/** The newest checkpoint of a log that a witness shows, signed by a key of the log. */
export async function readNewest(
  url: string,
  logKeys: readonly NoteKey[],
  options: SubmitOptions,
): Promise<{ checkpoint: OpenedCheckpoint; text: string } | { reason: string }> {
  const origin = logKeys[0]?.name ?? "";
  const response = await call(`${withoutSlash(url)}/${newestPath(origin)}`, options, {});
  if ("reason" in response) return response;
  if (response.status !== 200) return { reason: reasonOf(response.status, response.text) };
  try {
    const { text } = response;
    return { checkpoint: await openCheckpoint(text, logKeys, verifyEd25519), text };
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    return { reason: error.message };
  }
}

type Response = { readonly status: number; readonly type: string; readonly text: string };

async function call(
  url: string,
  { timeoutMs, signal }: SubmitOptions,
  init: RequestInit,
): Promise<Response | { readonly reason: string }> {
  const limit = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      ...init,
      redirect: "error",
      signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
    });
    const text = await readLimited(response);
    if (text === undefined) return { reason: "the response is too large" };
    const type = (response.headers.get("content-type") ?? "").split(";")[0]?.trim() ?? "";
    return { status: response.status, type, text };
  } catch (error) {
    if (limit.aborted) return { reason: `no response within ${timeoutMs} ms` };
    return { reason: `not reachable: ${causeOf(error)}` };
  }
}

async function readLimited(response: globalThis.Response): Promise<string | undefined> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += piece.length;
    // Leaving the loop cancels the body.
    if (size > MAX_RESPONSE_BYTES) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

/** The system's code, such as ECONNREFUSED; never a URL, which may contain a password. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (typeof cause === "object" && cause !== null && "code" in cause) return String(cause.code);
  return cause instanceof Error ? cause.name : "unknown";
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, "");
}

const MEANINGS: Readonly<Record<number, string>> = {
  400: "it could not read the request",
  403: "it does not accept the log's key",
  404: "it does not know the log",
  422: "the consistency proof does not verify against the tree it cosigned",
  429: "too many requests",
};

function reasonOf(status: number, text: string): string {
  const meaning = MEANINGS[status];
  if (meaning !== undefined) return `status ${status}: ${meaning}`;
  return status === 409 ? "status 409 without a size" : `status ${status}, ${text.length} bytes`;
}

/** A checkpoint with further signature lines; a line of the same key replaces the older one. */
export function withCosignatures(checkpoint: string, cosignatures: readonly Cosignature[]): string {
  const note = parseNote(checkpoint);
  const isReplaced = (name: string, id: Uint8Array): boolean =>
    cosignatures.some(({ line }) => line.name === name && Buffer.compare(line.keyId, id) === 0);
  const kept = note.signatures.filter(({ name, keyId }) => !isReplaced(name, keyId));
  return encodeNote({
    text: note.text,
    signatures: [...kept, ...cosignatures.map(({ line }) => line)],
  });
}
