import { useMemo } from "react";
import type { ReactNode } from "react";
import type { Counts } from "../api/responses.js";
import { useResource } from "../api/use-resource.js";
import { decisionOfEntry } from "../decisions/decision.js";
import { DecisionList } from "../decisions/decision-list.js";
import { useLogFacets } from "../decisions/facets.js";
import { FilterBar } from "../decisions/filter-bar.js";
import { apiFilterOf, filterOf } from "../decisions/filter.js";
import { hrefOf, rewrite } from "../route/route.js";
import { Empty, Failure, Loading } from "../components/states.js";
import { MAX_ENTRIES, useEntries } from "./use-entries.js";

/** The log, by what one looks for. */
export function ReceiptsPage({ query }: { readonly query: URLSearchParams }): ReactNode {
  const filter = useMemo(() => filterOf(query), [query]);
  const facets = useLogFacets();
  const { grouped: _, ...wanted } = filter;
  const written = JSON.stringify(wanted);
  // Rounded when the filter changes, so that a period does not ask again on each drawing.
  const asked = useMemo(
    () => new URLSearchParams(apiFilterOf(JSON.parse(written), Date.now())).toString(),
    [written],
  );
  const { entries, isComplete, problem, more, reload } = useEntries(asked);
  const counts = useResource<Counts>(`/v1/receipts/counts?by=direction&${asked}`);
  const total = counts.data?.counts.reduce((sum, { count }) => sum + count, 0);
  const decisions = useMemo(() => entries?.map(decisionOfEntry) ?? [], [entries]);
  return (
    <>
      <div className="head">
        <h1 tabIndex={-1}>Receipts</h1>
        <button
          type="button"
          onClick={() => {
            reload();
            counts.reload();
          }}
        >
          Refresh
        </button>
      </div>
      <FilterBar page="receipts" filter={filter} facets={facets} hasTime />
      {problem === undefined ? null : <Failure problem={problem} onRetry={reload} />}
      {entries === undefined ? (
        problem === undefined && <Loading what="receipts" />
      ) : decisions.length === 0 ? (
        <Empty title="No matching receipts">
          The log holds every decision. Remove a filter, or choose a longer time.
        </Empty>
      ) : (
        <DecisionList
          isGrouped={filter["grouped"] !== "no"}
          onGrouped={(isGrouped) =>
            rewrite(hrefOf(["receipts"], { ...filter, grouped: isGrouped ? "" : "no" }))
          }
          decisions={decisions}
          name="countersign-receipts"
          hasDay
          onEnd={more}
          says={
            <>
              Showing {decisions.length.toLocaleString()}
              {total === undefined ? "" : ` of ${total.toLocaleString()}`} matching entries, newest
              first.
              {isComplete
                ? ""
                : decisions.length >= MAX_ENTRIES
                  ? ` This page holds ${MAX_ENTRIES.toLocaleString()} at most: narrow the filter to see others.`
                  : " More load as you scroll."}
            </>
          }
        />
      )}
      {isComplete || entries === undefined || entries.length >= MAX_ENTRIES ? null : (
        <p>
          <button type="button" onClick={more}>
            Load more
          </button>
        </p>
      )}
    </>
  );
}
