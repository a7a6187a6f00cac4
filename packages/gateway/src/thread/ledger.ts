import type { JsonObject } from "@countersign/core";

/** The kinds of rows. */
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

/** The key of a row within its thread. */
export type LedgerName = Pick<LedgerRow, "kind" | "id">;

/** A row to insert unless its key exists. */
export type LedgerClaim = {
  readonly thread: string;
  readonly row: LedgerRow;
  /** Reads the row under that key and inserts nothing. */
  readonly isLookup?: true;
};

/** The result of claims. */
export type Claimed = {
  /** The existing row of each claim; `undefined` where the claim inserted it, or would have. */
  readonly known: readonly (JsonObject | undefined)[];
  /**
   * The rows of the thread before the claim, without its run ids, in no order; empty when no thread
   * was requested.
   */
  readonly rows: LedgerRow[];
};

/**
 * The gateway's storage of conversations: ids and digests, never a payload.
 *
 * One contract test holds every kind of storage to this:
 * - a resolved `write` or `claim` survives a killed process;
 * - one `write`, and one `claim` of several rows, is atomic;
 * - of two `claim`s of one key exactly one gets `undefined`, in whichever process;
 * - a read returns the last written rows, none for an unknown thread; runs are not read, only
 * claimed;
 * - `forget` removes whole threads without a write since that time, never part of one; a clock that
 * goes back makes no thread older.
 */
export type ThreadLedger = {
  /** Inserts, replaces and removes rows of one thread atomically. */
  write(thread: string, rows: readonly LedgerRow[], removed?: readonly LedgerName[]): Promise<void>;
  /**
   * Inserts rows whose keys do not exist; existing rows stay. With `reading`, also reads that
   * thread: a request needs all of this at once, and each round trip goes to another thread or
   * another machine.
   */
  claim(claims: readonly LedgerClaim[], reading?: string): Promise<Claimed>;
  /**
   * Removes threads that were last written before this time (milliseconds); resolves with their
   * number.
   */
  forget(before: number): Promise<number>;
  close(): Promise<void>;
};

/**
 * The key of a thread: agent, scope and thread id. The scope is the session where requests have no
 * principal.
 */
export function threadKey(agent: string, scope: string, threadId: string): string {
  return JSON.stringify([agent, scope, threadId]);
}
