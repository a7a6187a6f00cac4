import type { MessageRecord } from "./message-record.js";

/** Prefixes kept of all texts of a cut run: a client is rarely further behind. */
const MAX_OF_RUN = 16_384;
/** Prefixes kept of a thread, about five megabytes, until its client shows which of them it has. */
const MAX_OF_THREAD = 65_536;

/** The number of prefixes that a cut run may add to its thread. */
export function remainingPrefixBudget(records: Iterable<MessageRecord>): number {
  let left = MAX_OF_THREAD;
  for (const { content, calls } of records) {
    left -= content.length - 1;
    for (const call of calls ?? []) left -= call.arguments.length - 1;
  }
  return Math.max(0, Math.min(left, MAX_OF_RUN));
}
