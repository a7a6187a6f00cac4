import type { LogEntry } from "../entry/entry.js";

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
] as const;

/** One of {@link ENTRY_COLUMNS}. */
export type EntryColumn = (typeof ENTRY_COLUMNS)[number];

/** Which entries are meant. Members are joined by "and"; several values of one member by "or". */
export type EntryFilter = {
  readonly [Column in Exclude<EntryColumn, "allowed">]?: string | readonly string[];
} & {
  /** `true` what was let through, `false` what was blocked. */
  readonly allowed?: boolean;
  /** `true` what was let through although a rule spoke against it: who only observes would have blocked it. */
  readonly noted?: boolean;
  /** Receipt id; an event id that came twice has two receipts under one id. */
  readonly id?: string;
  /** Received at or after, milliseconds since the epoch. */
  readonly since?: number;
  /** Received before. */
  readonly until?: number;
};

/** Which part of the result. */
export type PageRequest = {
  /** At most 1,000; 100 when left out. */
  readonly limit?: number;
  /** `newest` first when left out. */
  readonly order?: "newest" | "oldest";
  /** The cursor of the page before. */
  readonly cursor?: string;
};

/** One page of entries. */
export type EntryPage = {
  readonly entries: readonly LogEntry[];
  /** Present when there may be more. */
  readonly cursor?: string;
};

/** What to count. */
export type CountRequest = {
  readonly filter?: EntryFilter;
  /** Columns to count apart; an entry without the column counts under `null`. */
  readonly by?: readonly EntryColumn[];
  /** Width of a time bucket in milliseconds; left out, time is not split. */
  readonly bucket?: number;
  /** At most this many rows, 10,000 when left out. */
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

/** Most entries of one page. */
export const MAX_PAGE = 1_000;
/** Most rows of one count. */
export const MAX_COUNT_ROWS = 10_000;
