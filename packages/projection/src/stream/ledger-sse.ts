import { CountersignError, isCountersignError, parseJson } from "@countersign/core";
import { createSseDecoder } from "@countersign/wire/sse";
import type { SseMessage } from "@countersign/wire/sse";
import "../base/errors.js";

/** Reads rows from the event stream of a ledger; chunks may end anywhere. */
export type LedgerSseReader = {
  /**
   * The rows that the bytes complete. Comments and events of other names are skipped. An invalid
   * row becomes an error value, so that later rows are still read.
   */
  push(chunk: Uint8Array): unknown[];
  end(): unknown[];
};

/** Creates a reader for a stream of `event: ledger` messages. */
export function createLedgerSseReader(): LedgerSseReader {
  const decoder = createSseDecoder({ unterminated: "drop" });
  const rows = (messages: readonly SseMessage[]) =>
    messages.filter(({ event }) => event === "ledger").map(({ data }) => readRow(data));
  return {
    push: (chunk) => rows(decoder.push(chunk)),
    end: () => rows(decoder.end()),
  };
}

/** The rows of a response body; without a body there are none. */
export async function* readLedgerSse(
  body: ReadableStream<Uint8Array> | null,
): AsyncGenerator<unknown, void, undefined> {
  if (body === null) return;
  const reader = createLedgerSseReader();
  for await (const chunk of body) yield* reader.push(chunk);
  yield* reader.end();
}

/** Data that is not JSON becomes an error value, which `push` of a projection reports and skips. */
function readRow(data: string): unknown {
  try {
    return parseJson(data);
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    return new CountersignError("ERR_PROJECTION_MALFORMED_EVENT", "the row is not JSON", {
      path: "",
    });
  }
}
