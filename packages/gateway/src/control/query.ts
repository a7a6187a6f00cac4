import { ENTRY_COLUMNS } from "@countersign/receipts/log";
import type { EntryColumn, EntryFilter, PageRequest } from "@countersign/receipts/log";
import type { Identities } from "../event/client-identity.js";
import { invalidField } from "./problem.js";

type Query = Readonly<Record<string, string>>;

const TEXTS: readonly string[] = [
  "id",
  "q",
  ...ENTRY_COLUMNS.filter((column) => column !== "allowed"),
];
const KNOWN: ReadonlySet<string> = new Set([
  ...TEXTS,
  "allowed",
  "would_block",
  // The earlier name of `would_block`.
  "noted",
  "since",
  "until",
  "limit",
  "cursor",
  "order",
]);
const PAGES: ReadonlySet<string> = new Set(["limit", "cursor", "order"]);

/**
 * Parses a filter from a query string. An unknown parameter is refused: ignoring it would return more than was
 * requested.
 */
export function filterOf(
  query: Query,
  identities: Pick<Identities, "formsOf">,
  hasPages = true,
): EntryFilter {
  const filter: Record<string, string | readonly string[] | boolean | number> = {};
  for (const [name, value] of Object.entries(query)) {
    if (!KNOWN.has(name) || (!hasPages && PAGES.has(name)))
      throw invalidField(name, `one of ${[...KNOWN].join(", ")}`);
    if (name === "principal" || name === "client_address") filter[name] = identities.formsOf(value);
    else if (TEXTS.includes(name)) filter[name] = value;
    else if (name === "allowed" || name === "would_block" || name === "noted") {
      const member = name === "noted" ? "would_block" : name;
      filter[member] = choose(name, value, ["true", "false"]) === "true";
    } else if (name === "since" || name === "until") filter[name] = count(name, value);
  }
  return filter as EntryFilter;
}

/** Parses the page from a query string. */
export function pageOf(query: Query): PageRequest {
  const { limit, cursor, order } = query;
  return {
    ...(limit === undefined ? {} : { limit: count("limit", limit) }),
    ...(cursor === undefined ? {} : { cursor }),
    ...(order === undefined
      ? {}
      : { order: choose("order", order, ["newest", "oldest"]) as "newest" | "oldest" }),
  };
}

/** Parses the comma-separated columns to count by; at least one, so that the response says what was counted. */
export function columnsOf(by: string | undefined): EntryColumn[] {
  const names = [...new Set((by ?? "").split(","))];
  const columns = ENTRY_COLUMNS.filter((column) => names.includes(column));
  if (columns.length === names.length) return columns;
  throw invalidField("by", `one or more of ${ENTRY_COLUMNS.join(", ")}`);
}

/** Parses a sequence number from the path of a request. */
export function sequenceOf(text: string): number {
  return count("seq", text);
}

function choose(name: string, value: string, choices: readonly string[]): string {
  if (choices.includes(value)) return value;
  throw invalidField(name, choices.join(" or "));
}

function count(name: string, value: string): number {
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw invalidField(name, "a whole number");
}

/** The items of one page, and the cursor of the next. */
export type Page<Item> = { readonly items: readonly Item[]; readonly cursor?: string };

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 500;

/** Returns the page of a list that `limit` and `cursor` select. */
export function cutPage<Item>(
  list: readonly Item[],
  query: Readonly<Record<string, string>>,
  others: readonly string[] = [],
): Page<Item> {
  for (const name of Object.keys(query)) {
    // Ignoring a mistyped filter would return more than was requested.
    if (!["limit", "cursor", ...others].includes(name)) {
      throw invalidField(name, `one of ${["limit", "cursor", ...others].join(", ")}`);
    }
  }
  const start = numberOf("cursor", query["cursor"], 0, 0, Number.MAX_SAFE_INTEGER);
  const limit = numberOf("limit", query["limit"], DEFAULT_LIMIT, 1, MAX_LIMIT);
  const end = start + limit;
  return {
    items: list.slice(start, end),
    ...(end < list.length ? { cursor: String(end) } : {}),
  };
}

/** Parses a whole number within a range from a query string. */
export function numberOf(
  name: string,
  value: string | undefined,
  standard: number,
  least: number,
  most: number,
): number {
  if (value === undefined) return standard;
  const number = /^\d{1,15}$/u.test(value) ? Number(value) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw invalidField(name, `a whole number from ${least} to ${most}`);
}
