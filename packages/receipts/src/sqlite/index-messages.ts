import type { ErrorFacts } from "@countersign/core";
import { CountersignError, isCountersignError } from "@countersign/core";

/** A call to the index thread. */
export type IndexCall = {
  readonly id: number;
  readonly method: string;
  readonly parameters: unknown[];
};

/** The reply; coded errors keep code and facts across threads. */
export type IndexReply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: { code?: string; message: string; facts?: unknown } };

/** Encodes an error as data. */
export function encodeFailure(error: unknown): { code?: string; message: string; facts?: unknown } {
  if (isCountersignError(error)) {
    return { code: error.code, message: error.message, facts: error.facts };
  }
  return { message: error instanceof Error ? error.message : "unknown failure" };
}

/** Decodes the error. */
export function decodeFailure(failure: { code?: string; message: string; facts?: unknown }): Error {
  if (failure.code === undefined) return new Error(failure.message);
  const code = failure.code as "ERR_STORE_READ";
  return new CountersignError(code, failure.message, failure.facts as ErrorFacts["ERR_STORE_READ"]);
}
