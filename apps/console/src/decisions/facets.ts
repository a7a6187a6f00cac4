import { useEffect, useState } from "react";
import type { Counts } from "../api/responses.js";
import { fetchJson } from "../api/request.js";
import type { Decision } from "./decision.js";
import { MAIN_FIELDS } from "./filter.js";

/** A value of a column and how often it occurs. */
export type Facet = { readonly value: string; readonly count: number };

/** The values of columns, the most frequent first. */
export type Facets = Readonly<Record<string, readonly Facet[]>>;

/** Values of one pick-list. */
const MAX_VALUES = 200;

/** The values of a column in a list of counts. */
export function facetsOf({ counts }: Counts, column: string): Facet[] {
  return counts
    .flatMap(({ count, values }) => {
      const value = values[column];
      return typeof value === "string" && value !== "" ? [{ value, count }] : [];
    })
    .sort((one, other) => other.count - one.count)
    .slice(0, MAX_VALUES);
}

/** The values in decisions that the page has. */
export function countFacets(decisions: readonly Decision[]): Facets {
  const facets: Record<string, Facet[]> = {};
  for (const { name } of MAIN_FIELDS) {
    const counts = new Map<string, number>();
    for (const decision of decisions) {
      const value = decision[name];
      if (value !== "") counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    facets[name] = [...counts]
      .map(([value, count]) => ({ value, count }))
      .sort((one, other) => other.count - one.count)
      .slice(0, MAX_VALUES);
  }
  return facets;
}

/** The values in the log, from its index. A column that does not arrive has no values to pick; it can be typed in. */
export function useLogFacets(): Facets {
  const [facets, setFacets] = useState<Facets>({});
  useEffect(() => {
    const gone = new AbortController();
    for (const { name } of MAIN_FIELDS) {
      fetchJson<Counts>(`/v1/receipts/counts?by=${name}`, { signal: gone.signal })
        .then((counts) => setFacets((last) => ({ ...last, [name]: facetsOf(counts, name) })))
        .catch(() => {});
    }
    return () => gone.abort();
  }, []);
  return facets;
}
