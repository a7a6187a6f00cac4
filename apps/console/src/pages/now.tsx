import type { ReactNode } from "react";
import type { Policy, Runs, Status } from "../api/responses.js";
import { fetchText } from "../api/request.js";
import { useResource } from "../api/use-resource.js";
import { RateChart } from "../chart/rate-chart.js";
import { hrefOf } from "../route/route.js";
import { StateBadge } from "../components/badge.js";
import { Figure } from "../components/figure.js";
import { Failure, Loading } from "../components/states.js";
import { Text } from "../components/text.js";
import { ageOf } from "../components/format-time.js";
import { Gateways } from "./gateways.js";
import { PolicyIssues } from "./policy-issues.js";
import { RunTable } from "./run-table.js";
import { TopRules } from "./top-rules.js";

/** The state of the gateway on one page. */
export function NowPage(): ReactNode {
  const status = useResource<Status>("/v1/status", 2000);
  const runs = useResource<Runs>("/v1/runs?status=running&limit=10", 2000);
  return (
    <>
      <h1 tabIndex={-1}>Now</h1>
      {status.problem === undefined ? null : (
        <Failure problem={status.problem} onRetry={status.reload} />
      )}
      {status.data === undefined ? (
        status.problem === undefined && (
          <div className="await-figures">
            <Loading what="the state of the gateway" />
          </div>
        )
      ) : (
        <Facts status={status.data} />
      )}
      <section className="card" aria-labelledby="rates">
        <h2 id="rates">Events per second</h2>
        <RateChart />
      </section>
      <div className="columns">
        <TopRules />
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
            <RunTable runs={runs.data.runs} isShort />
          )}
          <p>
            <a href="#/runs">All runs and sessions</a>
          </p>
        </section>
      </div>
      {(status.data?.gateways.length ?? 0) > 1 && status.data !== undefined ? (
        <Gateways status={status.data} />
      ) : null}
    </>
  );
}

function Facts({ status }: { readonly status: Status }): ReactNode {
  const { policy, store, counts } = status;
  const checkpoint = useResource<string>("/v1/checkpoint", 10_000, fetchText);
  const metrics = useResource<string>("/metrics", 5000, fetchText);
  const size = checkpoint.data?.split("\n")[1];
  const disconnected = /^countersign_clients_away (\d+)$/mu.exec(metrics.data ?? "")?.[1];
  return (
    <>
      {policy.stale ? <StalePolicy /> : null}
      <section className="figures" aria-label="The gateway">
        <Figure title="State" note={whyOf(status)}>
          <StateBadge name={stateOf(status)} />
        </Figure>
        <Figure
          title="Policy"
          href="#/policy"
          note={
            <>
              <StateBadge name={policy.mode} /> <code>{policy.hash.slice(0, 12)}…</code>
            </>
          }
        >
          <Text value={policy.name ?? "unnamed"} />
        </Figure>
        <Figure title="Forwarded" note={`${plural(counts.refusals, "request")} rejected`}>
          {counts.events_forwarded.toLocaleString()}
        </Figure>
        <Figure
          title="Blocked"
          href={hrefOf(["receipts"], { allowed: "false" })}
          note="since the gateway started"
        >
          {counts.events_blocked.toLocaleString()}
        </Figure>
        <Figure
          title="Log"
          href="#/receipts"
          note={
            size === undefined
              ? `${store.kind}`
              : `${store.kind}, checkpoint at ${Number(size).toLocaleString()}`
          }
        >
          {store.entries === undefined ? "unavailable" : store.entries.toLocaleString()}
        </Figure>
        <Figure
          title="Open runs"
          href="#/runs"
          note={`${plural(counts.sessions, "session")}, ${plural(counts.sockets_open, "socket")}`}
        >
          {counts.runs_open.toLocaleString()}
        </Figure>
        <Figure title="Disconnected clients" note="streams waiting for a resume request">
          {disconnected ?? "–"}
        </Figure>
        <Figure title="Uptime" note={`version ${status.version}`}>
          {ageOf(status.uptime_seconds * 1000)}
        </Figure>
      </section>
    </>
  );
}

function plural(count: number, one: string): string {
  return `${count.toLocaleString()} ${count === 1 ? one : `${one}s`}`;
}

function stateOf({ ready, draining }: Status): string {
  if (draining) return "draining";
  return ready ? "ready" : "not ready";
}

function whyOf({ ready, draining, store, listeners }: Status): ReactNode {
  if (draining) return "The gateway is shutting down and ends open runs.";
  if (ready) return listeners.data;
  return store.entries === undefined
    ? "The receipt store does not respond, so the gateway forwards nothing."
    : "The gateway cannot write receipts or threads; see /readyz.";
}

function StalePolicy(): ReactNode {
  const { data } = useResource<Policy>("/v1/policy", 5000);
  return (
    <section className="notice bad" aria-label="The policy">
      <strong>The newest policy file cannot be loaded; the last valid policy stays active.</strong>
      {data === undefined ? null : <PolicyIssues issues={data.issues} />}
    </section>
  );
}
