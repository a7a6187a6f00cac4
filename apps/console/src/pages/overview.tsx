import { useMemo } from "react";
import type { ReactNode } from "react";
import type { Counts, Runs, Status } from "../api/responses.js";
import { fetchJson } from "../api/request.js";
import { useResource } from "../api/use-resource.js";
import { HistoryChart } from "../chart/history-chart.js";
import { hrefOf } from "../route/route.js";
import { PERIODS, seriesOf, startOf } from "../overview/series.js";
import type { Period } from "../overview/series.js";
import { Failure, Loading } from "../components/states.js";
import { Gateways } from "./gateways.js";
import { Health } from "./health.js";
import { Ranking } from "./ranking.js";
import { RunTable } from "./run-table.js";
import { SinceYesterday } from "./since-yesterday.js";

const RANKINGS = [
  ["rule", "By rule"],
  ["principal", "By principal"],
  ["tool", "By tool"],
  ["agent_id", "By agent"],
] as const;

/** What was decided, for whom and why, over a period; and whether the gateway is well. */
export function OverviewPage({ query }: { readonly query: URLSearchParams }): ReactNode {
  const period = PERIODS.find(({ name }) => name === query.get("period")) ?? PERIODS[1];
  const status = useResource<Status>("/v1/status", 5000);
  const runs = useResource<Runs>("/v1/runs?status=running&limit=10", 5000);
  if (period === undefined) return null;
  return (
    <>
      <div className="head">
        <h1 tabIndex={-1}>Overview</h1>
        <nav aria-label="Period">
          <ul className="tabs">
            {PERIODS.map(({ name, title }) => (
              <li key={name}>
                <a
                  href={hrefOf(["overview"], { period: name })}
                  aria-current={name === period.name ? "true" : undefined}
                >
                  {title}
                </a>
              </li>
            ))}
          </ul>
        </nav>
      </div>
      {status.problem === undefined ? null : (
        <Failure problem={status.problem} onRetry={status.reload} />
      )}
      <Decisions key={period.name} period={period} />
      <div className="columns">
        {RANKINGS.map(([column, title]) => (
          <Ranking key={column} column={column} title={title} period={period} />
        ))}
      </div>
      <div className="columns">
        <SinceYesterday />
        <Health status={status.data} />
      </div>
      <section className="card" aria-labelledby="open-runs">
        <h2 id="open-runs">Open runs</h2>
        {runs.data === undefined ? (
          runs.problem === undefined ? (
            <Loading what="runs" />
          ) : (
            <Failure problem={runs.problem} />
          )
        ) : runs.data.runs.length === 0 ? (
          <p className="faint">No open runs.</p>
        ) : (
          <RunTable runs={runs.data.runs} />
        )}
        <p>
          <a href="#/runs">All runs and sessions</a>
        </p>
      </section>
      {status.data !== undefined && status.data.gateways.length > 1 ? (
        <Gateways status={status.data} />
      ) : null}
    </>
  );
}

function Decisions({ period }: { readonly period: Period }): ReactNode {
  const ask = (filter: string) => async (_path: string, options: { signal: AbortSignal }) => {
    const start = startOf(period, Date.now());
    const path = `/v1/receipts/counts?by=allowed&bucket=${period.bucket}&since=${start}${filter}`;
    return { counts: await fetchJson<Counts>(path, options), start };
  };
  const all = useResource(`all ${period.name}`, period.every, ask(""));
  const would = useResource(`would ${period.name}`, period.every, ask("&would_block=true"));
  const series = useMemo(
    () =>
      all.data === undefined || would.data === undefined
        ? undefined
        : seriesOf(all.data.counts, would.data.counts, period, all.data.start),
    [all.data, would.data, period],
  );
  return (
    <section className="card" aria-labelledby="decisions">
      <h2 id="decisions">Decisions</h2>
      {series === undefined ? (
        (all.problem ?? would.problem) === undefined ? (
          <Loading what="decisions" />
        ) : null
      ) : (
        <HistoryChart series={series} period={period} />
      )}
      {all.problem === undefined ? null : <Failure problem={all.problem} onRetry={all.reload} />}
    </section>
  );
}
