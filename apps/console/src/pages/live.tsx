import { useMemo, useState } from "react";
import type { ReactNode } from "react";
import type { FeedItem } from "../api/responses.js";
import { useFeed } from "../feed/feed-context.js";
import { useFleetFeed, useGateways } from "../feed/fleet-feed.js";
import { feedFilterOf, passesFilter } from "../feed/feed-filter.js";
import type { FeedFilter } from "../feed/feed-filter.js";
import { hrefOf, rewrite } from "../route/route.js";
import { announce } from "../components/announce.js";
import { Field } from "../components/field.js";
import { Empty } from "../components/states.js";
import { visibleText } from "../components/visible-text.js";
import { FeedTable } from "./feed-table.js";

/** Every decision as it is made, the newest first. */
export function LivePage({ query }: { readonly query: URLSearchParams }): ReactNode {
  const filter = useMemo(() => feedFilterOf(query), [query]);
  const { gateways, isOwn } = useGateways(filter.gateway);
  const own = useFeed();
  const others = useFleetFeed(isOwn ? undefined : filter.gateway);
  const view = isOwn ? own : others;
  const [held, setHeld] = useState<{ items: readonly FeedItem[]; total: number }>();
  const items = held?.items ?? view.items;
  const matching = useMemo(
    () => items.filter((item) => passesFilter(item, filter)).toReversed(),
    [items, filter],
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
      <Filters filter={filter} gateways={gateways} />
      <p className="faint small-print">
        Showing {matching.length.toLocaleString()} of {items.length.toLocaleString()} decisions{" "}
        {isOwn ? "of this gateway" : "read from the log of all gateways every two seconds"}
        {view.lost === 0 ? "" : `; ${view.lost.toLocaleString()} arrived too fast to be shown`}. The{" "}
        <a href="#/receipts">log</a> holds every decision.
      </p>
      {matching.length === 0 ? (
        <Empty title={items.length === 0 ? "No decisions yet" : "No decisions match the filter"}>
          {items.length === 0
            ? "This page shows each decision when the gateway records it. Send a request through the gateway."
            : "Clear the filter or wait for new decisions."}
        </Empty>
      ) : (
        <FeedTable items={matching} />
      )}
    </>
  );
}

function Filters({
  filter,
  gateways,
}: {
  readonly filter: FeedFilter;
  readonly gateways: readonly string[];
}): ReactNode {
  const change = (name: keyof FeedFilter, value: string): void =>
    rewrite(hrefOf(["live"], { ...filter, [name]: value }));
  const isEmpty = Object.keys(filter).length === 0;
  return (
    <form
      className="filters"
      role="search"
      aria-label="Filter"
      onSubmit={(event) => event.preventDefault()}
    >
      <Field
        title="Find"
        isFilter
        value={filter.text ?? ""}
        onChange={(value) => change("text", value)}
      />
      <label className="field">
        <span>Decision</span>
        <select
          value={filter.verdict ?? ""}
          onChange={(event) => change("verdict", event.target.value)}
        >
          <option value="">all</option>
          <option value="allowed">allowed</option>
          <option value="noted">would block</option>
          <option value="blocked">blocked</option>
        </select>
      </label>
      <label className="field">
        <span>Direction</span>
        <select
          value={filter.direction ?? ""}
          onChange={(event) => change("direction", event.target.value)}
        >
          <option value="">both</option>
          <option value="outbound">to the client</option>
          <option value="inbound">to the agent</option>
        </select>
      </label>
      <Field
        title="Agent"
        value={filter.agent ?? ""}
        onChange={(value) => change("agent", value)}
      />
      <Field
        title="Session"
        value={filter.session ?? ""}
        onChange={(value) => change("session", value)}
      />
      {gateways.length < 2 ? null : (
        <label className="field">
          <span>Gateway</span>
          <select
            value={filter.gateway ?? ""}
            onChange={(event) => change("gateway", event.target.value)}
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
      <Field title="Rule" value={filter.rule ?? ""} onChange={(value) => change("rule", value)} />
      <button type="button" disabled={isEmpty} onClick={() => rewrite(hrefOf(["live"]))}>
        Clear
      </button>
    </form>
  );
}
