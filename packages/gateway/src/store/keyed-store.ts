import type { JsonObject } from "@countersign/core";

/** The kinds of rows: those of a thread (its ledger), and those of sessions, tickets, quota and the store itself. */
export type RowKind =
  | "thread"
  | "order"
  | "message"
  | "shown"
  | "calls"
  | "call"
  | "tool"
  | "interrupt"
  | "surface"
  | "declined"
  | "state"
  | "answer"
  | "run"
  | "open"
  | "withheld"
  | "denials"
  | "session"
  | "ticket"
  | "budget"
  | "velocity"
  | "capability"
  | "handed"
  | "contained"
  | "look";

/** One row of a partition. */
export type StoredRow = {
  readonly kind: RowKind;
  readonly id: string;
  readonly value: JsonObject;
};

/** The key of a row within its partition. */
export type RowName = Pick<StoredRow, "kind" | "id">;

/** A row to insert unless its key exists. */
export type RowClaim = {
  readonly partition: string;
  readonly row: StoredRow;
  /** Reads the row under that key and inserts nothing. */
  readonly isLookup?: true;
};

/** Rows that are written together with claims. */
export type RowsOfClaim = { readonly partition: string; readonly rows: readonly StoredRow[] };

/** The result of claims. */
export type Claimed = {
  /** The existing row of each claim; `undefined` where the claim inserted it, or would have. */
  readonly known: readonly (JsonObject | undefined)[];
  /**
   * The rows of the partition before the claim, without run ids, in no order; empty when no partition was requested.
   */
  readonly rows: StoredRow[];
};

/**
 * The gateway's keyed store: rows `(partition, kind, id) → JSON`. It holds threads, owners of
 * sessions, used tickets, budgets and velocity counts. A row has ids and digests, never a payload.
 *
 * One contract test holds every kind of storage to this:
 * - a resolved `write` or `claim` survives a killed process;
 * - one `write`, and one `claim` of several rows, is atomic;
 * - of two `claim`s of one key exactly one gets `undefined`, in whichever process;
 * - a read returns the last written rows, none for an unknown partition; runs are not read, only
 * claimed;
 * - `forget` removes whole partitions without a write since that time, never part of one; a clock
 * that goes back makes no partition older.
 */
export type KeyedStore = {
  /** Inserts, replaces and removes rows of one partition atomically. */
  write(partition: string, rows: readonly StoredRow[], removed?: readonly RowName[]): Promise<void>;
  /**
   * Inserts rows whose keys do not exist. With `reading`, also reads that partition, because each round trip goes to
   * another thread or another machine. `then` is written in the same transaction if every claim inserted its row.
   */
  claim(claims: readonly RowClaim[], reading?: string, then?: RowsOfClaim): Promise<Claimed>;
  /** Removes partitions that were last written before this time (milliseconds); resolves with their number. */
  forget(before: number): Promise<number>;
  close(): Promise<void>;
};

/** Whether every claim inserted its row. */
export function areAllNew(known: Claimed["known"]): boolean {
  return known.every((row) => row === undefined);
}
