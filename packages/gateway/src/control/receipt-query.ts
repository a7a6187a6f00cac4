import { ENTRY_COLUMNS } from "@countersign/receipts/log";
import type { EntryColumn, EntryFilter, PageRequest } from "@countersign/receipts/log";
import { invalidField } from "./request-body.js";

type Query = Readonly<Record<string, string>>;

const TEXTS: readonly string[] = ["id", ...ENTRY_COLUMNS.filter((column) => column !== "allowed")];
const KNOWN: ReadonlySet<string> = new Set([
  ...TEXTS,
  "allowed",
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
export function filterOf(query: Query, hasPages = true): EntryFilter {
  const filter: Record<string, string | boolean | number> = {};
  for (const [name, value] of Object.entries(query)) {
    if (!KNOWN.has(name) || (!hasPages && PAGES.has(name)))
      throw invalidField(name, `one of ${[...KNOWN].join(", ")}`);
    if (TEXTS.includes(name)) filter[name] = value;
    else if (name === "allowed" || name === "noted") {
      filter[name] = choose(name, value, ["true", "false"]) === "true";
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
