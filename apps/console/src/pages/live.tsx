import { useMemo, useState } from "react";
import type { ReactNode } from "react";
import type { FeedItem } from "../api/responses.js";
import { decisionOfItem } from "../decisions/decision.js";
import { DecisionList } from "../decisions/decision-list.js";
import { countFacets } from "../decisions/facets.js";
import { FilterBar } from "../decisions/filter-bar.js";
import { filterOf, passesFilter } from "../decisions/filter.js";
import { useFeed } from "../feed/feed-context.js";
import { useFleetFeed, useGateways } from "../feed/fleet-feed.js";
import { hrefOf, rewrite } from "../route/route.js";
import { announce } from "../components/announce.js";
import { Empty } from "../components/states.js";
import { visibleText } from "../components/visible-text.js";

/** Every decision as it is made, the newest first. */
export function LivePage({ query }: { readonly query: URLSearchParams }): ReactNode {
  const filter = useMemo(() => filterOf(query), [query]);
  const { gateway } = filter;
  const { gateways, isOwn } = useGateways(gateway);
  const own = useFeed();
  const others = useFleetFeed(isOwn ? undefined : gateway);
  const view = isOwn ? own : others;
  const [held, setHeld] = useState<{ items: readonly FeedItem[]; total: number }>();
  const items = held?.items ?? view.items;
  const decisions = useMemo(() => items.map(decisionOfItem).toReversed(), [items]);
  const facets = useMemo(() => countFacets(decisions), [decisions]);
  const matching = useMemo(
    () => decisions.filter((decision) => passesFilter(decision, filter)),
    [decisions, filter],
  );
  const missed = held === undefined ? 0 : view.total - held.total;
  const toggle = (): void => {
    setHeld(held === undefined ? { items: view.items, total: view.total } : undefined);
    announce(held === undefined ? "Paused" : "Resumed");
  };
  return (
    <>
      <div className="head">
        <h1 tabIndex={-1}>Live</h1>
        <button type="button" onClick={toggle} aria-pressed={held !== undefined}>
          {held === undefined ? "Pause" : `Resume (${missed.toLocaleString()} new)`}
        </button>
      </div>
      <FilterBar page="live" filter={filter} facets={facets}>
        {gateways.length < 2 ? null : (
          <label className="field">
            <span>Gateway</span>
            <select
              value={gateway ?? ""}
              onChange={(event) =>
                rewrite(hrefOf(["live"], { ...filter, gateway: event.target.value }))
              }
            >
              <option value="">this one</option>
              <option value="all">all</option>
              {gateways.slice(1).map((name) => (
                <option key={name} value={name}>
                  {visibleText(name)}
                </option>
              ))}
            </select>
          </label>
        )}
      </FilterBar>
      {matching.length === 0 ? (
        <Empty title={items.length === 0 ? "No decisions yet" : "No decisions match the filter"}>
          {items.length === 0
            ? "This page shows each decision when the gateway records it. Send a request through the gateway."
            : "Clear the filter, wait for new decisions, or search the whole log on the page Receipts."}
        </Empty>
      ) : (
        <DecisionList
          isGrouped={filter["grouped"] !== "no"}
          onGrouped={(isGrouped) =>
            rewrite(hrefOf(["live"], { ...filter, grouped: isGrouped ? "" : "no" }))
          }
          decisions={matching}
          name="countersign-live"
          says={
            <>
              Showing {matching.length.toLocaleString()} of {items.length.toLocaleString()}{" "}
              decisions{" "}
              {isOwn ? "of this gateway" : "read from the log of all gateways every two seconds"}
              {view.lost === 0
                ? ""
                : `; ${view.lost.toLocaleString()} arrived too fast to be shown`}
              . The <a href={hrefOf(["receipts"], { ...filter, gateway: "" })}>log</a> holds every
              decision.
            </>
          }
        />
      )}
    </>
  );
}
