import type { ReactNode } from "react";
import type { Entries } from "../api/responses.js";
import { useResource } from "../api/use-resource.js";
import { hrefOf } from "../route/route.js";
import { Empty, Failure, Loading } from "../components/states.js";
import { EntryTable } from "./entry-table.js";
import { FilterForm } from "./receipt-filter-form.js";
import type { Filter } from "./receipt-filter.js";

/** The log, by what one looks for. */
export function ReceiptsPage({ query }: { readonly query: URLSearchParams }): ReactNode {
  const filter: Filter = Object.fromEntries(query);
  const { data, problem, reload } = useResource<Entries>(`/v1/receipts?${apiQuery(filter)}`);
  return (
    <>
      <div className="head">
        <h1 tabIndex={-1}>Receipts</h1>
        <button type="button" onClick={reload}>
          Refresh
        </button>
      </div>
      <FilterForm filter={filter} />
      {data === undefined ? (
        problem === undefined ? (
          <Loading what="receipts" />
        ) : (
          <Failure problem={problem} onRetry={reload} />
        )
      ) : data.entries.length === 0 ? (
        <Empty title="No matching receipts">
          Filters match exact values. The log holds every decision: remove a filter to see more.
        </Empty>
      ) : (
        <section className="card" aria-label="Receipts">
          <EntryTable entries={data.entries} />
        </section>
      )}
      <Pages filter={filter} next={data?.cursor} />
    </>
  );
}

function Pages({
  filter,
  next,
}: {
  readonly filter: Filter;
  readonly next: string | undefined;
}): ReactNode {
  const { cursor, ...first } = filter;
  if (cursor === undefined && next === undefined) return null;
  return (
    <nav className="buttons" aria-label="Pages of receipts">
      {cursor === undefined ? null : <a href={hrefOf(["receipts"], first)}>First page</a>}
      {next === undefined ? null : (
        <a href={hrefOf(["receipts"], { ...filter, cursor: next })}>Next page</a>
      )}
    </nav>
  );
}

function apiQuery(filter: Filter): string {
  return new URLSearchParams({ ...filter, limit: "100" }).toString();
}
