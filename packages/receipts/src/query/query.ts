import type { LogEntry } from "../entry/entry.js";
import { CountersignError } from "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A query, count or cursor is invalid. */
    ERR_QUERY_INVALID: { member: string; reason: string };
  }
}

/** An invalid request; it may come from an untrusted client of the control API. */
export function invalidQuery(member: string, reason: string): CountersignError {
  return new CountersignError("ERR_QUERY_INVALID", `the query's ${member} is ${reason}`, {
    member,
    reason,
  });
}

/** The columns entries can be found and counted by. */
export const ENTRY_COLUMNS = [
  "session_id",
  "agent_id",
  "run_id",
  "thread_id",
  "event_type",
  "classification",
  "target_type",
  "target_id",
  "allowed",
  "rule",
  "capability_id",
  "direction",
  "mode",
  "transport",
  "principal",
  "client_address",
  "tool",
  "path",
] as const;

/** One of {@link ENTRY_COLUMNS}. */
export type EntryColumn = (typeof ENTRY_COLUMNS)[number];

/** A filter for entries. Members are joined by "and"; several values of one member by "or". */
export type EntryFilter = {
  readonly [Column in Exclude<EntryColumn, "allowed">]?: string | readonly string[];
} & {
  /** `true`: allowed entries; `false`: blocked ones. */
  readonly allowed?: boolean;
  /** `true`: allowed entries that violated a rule; enforce mode would have blocked them. */
  readonly would_block?: boolean;
  /**
   * Text that a column or the receipt id contains: at most {@link MAX_FIND_LENGTH} characters. ASCII letters match in
   * either case.
   */
  readonly q?: string;
  /** Receipt id; a repeated event id has several receipts with one id. */
  readonly id?: string;
  /** Received at or after, milliseconds since the epoch. */
  readonly since?: number;
  /** Received before. */
  readonly until?: number;
};

/** The requested page. */
export type PageRequest = {
  /** At most 1,000; default 100. */
  readonly limit?: number;
  /** Default `newest` first. */
  readonly order?: "newest" | "oldest";
  /** The cursor of the previous page. */
  readonly cursor?: string;
};

/** One page of entries. */
export type EntryPage = {
  readonly entries: readonly LogEntry[];
  /** Present when there may be more. */
  readonly cursor?: string;
};

/** A request for counts. */
export type CountRequest = {
  readonly filter?: EntryFilter;
  /** Columns to group by; an entry without the column counts under `null`. */
  readonly by?: readonly EntryColumn[];
  /** Width of a time bucket in milliseconds; without it time is not split. */
  readonly bucket?: number;
  /** Maximum number of rows; default 10,000. */
  readonly limit?: number;
};

/** One count. */
export type CountRow = {
  readonly count: number;
  /** Start of the time bucket, when time was split. */
  readonly from?: number;
  /** One value for each column of `by`, in that order. */
  readonly group: readonly (string | boolean | null)[];
};

/** Maximum number of UTF-16 code units of the text of `q`. */
export const MAX_FIND_LENGTH = 200;
/** Maximum number of entries of one page. */
export const MAX_PAGE = 1_000;
/** Maximum number of rows of one count. */
export const MAX_COUNT_ROWS = 10_000;
