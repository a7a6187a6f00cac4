import type { JsonObject } from "@countersign/core";

/** What a row of the ledger is about. */
export type LedgerKind =
  | "thread"
  | "order"
  | "message"
  | "shown"
  | "call"
  | "tool"
  | "interrupt"
  | "declined"
  | "state"
  | "answer"
  | "run"
  | "look"
  | "ticket"
  | "session"
  | "budget"
  | "velocity"
  | "withheld"
  | "denials";

/** One fact about a thread. */
export type LedgerRow = {
  readonly kind: LedgerKind;
  readonly id: string;
  readonly value: JsonObject;
};

/** A row by its name. */
export type LedgerName = Pick<LedgerRow, "kind" | "id">;

/** A row that somebody wants to be the first to write. */
export type LedgerClaim = {
  readonly thread: string;
  readonly row: LedgerRow;
  /** Only asks what is there under the row's name, and puts nothing. */
  readonly isQuestion?: true;
};

/** What became of claims. */
export type Claimed = {
  /** Of each claim what was there already; `undefined` where it was the first, or would be. */
  readonly known: readonly (JsonObject | undefined)[];
  /** What was known about the thread just before, but its run ids, in no order; nothing when none was to be read. */
  readonly rows: LedgerRow[];
};

/**
 * What a gateway keeps about conversations: ids and digests, never a payload.
 *
 * The contract, held by one test for every kind of storage:
 * - what `write` or `claim` resolved with is there after the process was killed;
 * - one `write`, and one `claim` of several rows, is seen whole or not at all;
 * - of two `claim`s of one name exactly one gets `undefined`, whichever process asks;
 * - rows come back as they were written last, none for an unknown thread; runs are not read, only claimed;
 * - `forget` removes whole threads that nobody wrote to since, never part of one; a clock that goes back makes no
 *   thread older.
 */
export type ThreadLedger = {
  /** Puts and removes rows of one thread together. */
  write(thread: string, rows: readonly LedgerRow[], removed?: readonly LedgerName[]): Promise<void>;
  /**
   * Puts rows that are not there yet; those that are stay as they are. With `reading`, reads that thread as well:
   * a request asks for all this at once, and each question costs a journey to another thread or another machine.
   */
  claim(claims: readonly LedgerClaim[], reading?: string): Promise<Claimed>;
  /** Forgets threads that were last written before this time (milliseconds); resolves with how many. */
  forget(before: number): Promise<number>;
  close(): Promise<void>;
};

/** The name under which a thread is kept: the agent's, and whose it is where nobody vouches for anybody. */
export function threadKey(agent: string, scope: string, threadId: string): string {
  return JSON.stringify([agent, scope, threadId]);
}
