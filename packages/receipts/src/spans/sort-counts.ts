import type { CountRow } from "../query/query.js";

function compare(left: string | boolean | null, right: string | boolean | null): number {
  if (left === right) return 0;
  // Absent first, then by code units: independent of a database's collation.
  if (left === null) return -1;
  if (right === null) return 1;
  return String(left) < String(right) ? -1 : 1;
}

/** Counts by time, then by group, in the same order from every store. */
export function sortCounts(rows: CountRow[]): CountRow[] {
  return rows.sort((left, right) => {
    const time = (left.from ?? 0) - (right.from ?? 0);
    if (time !== 0) return time;
    for (const [index, value] of left.group.entries()) {
      const order = compare(value, right.group[index] ?? null);
      if (order !== 0) return order;
    }
    return 0;
  });
}
