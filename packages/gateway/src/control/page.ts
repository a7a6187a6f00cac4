import { invalidField } from "./request-body.js";

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
