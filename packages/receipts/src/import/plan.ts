import { invalidQuery } from "../query/query.js";
import type { ForeignFilter } from "./foreign.js";

const COLUMNS = ["session_id", "agent_id", "protocol"] as const;
const MAX_FOREIGN = 1_000;

/** A foreign filter as columns that must equal values. */
export function planForeign(filter: ForeignFilter): {
  conditions: string[];
  values: string[];
  limit: number;
} {
  const conditions: string[] = [];
  const values: string[] = [];
  for (const column of COLUMNS) {
    const value = filter[column];
    if (value === undefined) continue;
    if (typeof value !== "string") throw invalidQuery(column, "not text");
    conditions.push(column);
    values.push(value);
  }
  if (conditions.length === 0) throw invalidQuery("filter", "empty");
  const limit = filter.limit ?? 100;
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_FOREIGN) {
    throw invalidQuery("limit", `not a whole number from 1 to ${MAX_FOREIGN}`);
  }
  return { conditions, values, limit };
}
