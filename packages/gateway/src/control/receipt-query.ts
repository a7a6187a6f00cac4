import type { EntryFilter, PageRequest } from "@countersign/receipts/log";

const TEXT_FILTERS = [
  "id",
  "session_id",
  "agent_id",
  "run_id",
  "thread_id",
  "event_type",
  "classification",
  "target_type",
  "target_id",
  "rule",
  "capability_id",
  "direction",
  "mode",
  "transport",
] as const;

/** The filter a query string asks for; members it does not know are ignored by nobody: see `pageOf`. */
export function filterOf(query: Readonly<Record<string, string>>): EntryFilter {
  const filter: Record<string, string | boolean | number> = {};
  for (const name of TEXT_FILTERS) {
    const value = query[name];
    if (value !== undefined) filter[name] = value;
  }
  if (query["allowed"] !== undefined) filter["allowed"] = query["allowed"] === "true";
  for (const name of ["since", "until"]) {
    const value = Number(query[name]);
    if (query[name] !== undefined && Number.isFinite(value)) filter[name] = value;
  }
  return filter as EntryFilter;
}

/** Which page a query string asks for. */
export function pageOf(query: Readonly<Record<string, string>>): PageRequest {
  const limit = Number(query["limit"]);
  return {
    ...(query["limit"] === undefined || !Number.isSafeInteger(limit) ? {} : { limit }),
    ...(query["cursor"] === undefined ? {} : { cursor: query["cursor"] }),
    ...(query["order"] === "oldest" ? { order: "oldest" as const } : {}),
  };
}
