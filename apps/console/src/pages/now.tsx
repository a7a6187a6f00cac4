import type { ReactNode } from "react";
import type { Policy, Runs, Status } from "../api/answers.js";
import { askText } from "../api/request.js";
import { useAnswer } from "../api/use-answer.js";
import { RateChart } from "../chart/rate-chart.js";
import { hrefOf } from "../route/route.js";
import { StateBadge } from "../components/badge.js";
import { Figure } from "../components/figure.js";
import { Failure, Loading } from "../components/states.js";
import { Text } from "../components/text.js";
import { ageOf } from "../components/time-words.js";
import { Gateways } from "./gateways.js";
import { PolicyIssues } from "./policy-issues.js";
import { RunTable } from "./run-table.js";
import { TopRules } from "./top-rules.js";

/** How the gateway is, on one page. */
export function NowPage(): ReactNode {
  const status = useAnswer<Status>("/v1/status", 2000);
  const runs = useAnswer<Runs>("/v1/runs?status=running&limit=10", 2000);
  return (
    <>
      <h1 tabIndex={-1}>Now</h1>
      {status.problem === undefined ? null : (
        <Failure problem={status.problem} onRetry={status.reload} />
      )}
      {status.answer === undefined ? (
        status.problem === undefined && (
          <div className="await-figures">
            <Loading what="the state of the gateway" />
          </div>
        )
      ) : (
        <Facts status={status.answer} />
      )}
      <section className="card" aria-labelledby="rates">
        <h2 id="rates">Events a second</h2>
        <RateChart />
      </section>
      <div className="columns">
        <TopRules />
        <section className="card" aria-labelledby="open-runs">
          <h2 id="open-runs">Open runs</h2>
          {runs.answer === undefined ? (
            runs.problem === undefined ? (
              <Loading what="runs" />
            ) : (
              <Failure problem={runs.problem} />
            )
          ) : runs.answer.runs.length === 0 ? (
            <p className="faint">None now.</p>
          ) : (
            <RunTable runs={runs.answer.runs} isShort />
          )}
          <p>
            <a href="#/runs">All runs and sessions</a>
          </p>
        </section>
      </div>
      {(status.answer?.gateways.length ?? 0) > 1 && status.answer !== undefined ? (
        <Gateways status={status.answer} />
      ) : null}
    </>
  );
}

function Facts({ status }: { readonly status: Status }): ReactNode {
  const { policy, store, counts } = status;
  const checkpoint = useAnswer<string>("/v1/checkpoint", 10_000, askText);
  const metrics = useAnswer<string>("/metrics", 5000, askText);
  const size = checkpoint.answer?.split("\n")[1];
  const away = /^countersign_clients_away (\d+)$/mu.exec(metrics.answer ?? "")?.[1];
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
          <Text value={policy.name ?? "without a name"} />
        </Figure>
        <Figure title="Let through" note={`${counts.refusals.toLocaleString()} requests refused`}>
          {counts.events_forwarded.toLocaleString()}
        </Figure>
        <Figure
          title="Blocked"
          href={hrefOf(["receipts"], { allowed: "false" })}
          note="since the start"
        >
          {counts.events_blocked.toLocaleString()}
        </Figure>
        <Figure
          title="Log"
          href="#/receipts"
          note={
            size === undefined
              ? `${store.kind}`
              : `${store.kind}, checkpoint of ${Number(size).toLocaleString()}`
          }
        >
          {store.entries === undefined ? "away" : store.entries.toLocaleString()}
        </Figure>
        <Figure
          title="Open runs"
          href="#/runs"
          note={`${counts.sessions.toLocaleString()} sessions, ${counts.sockets_open} sockets`}
        >
          {counts.runs_open.toLocaleString()}
        </Figure>
        <Figure title="Streams away" note="wait for their client to come back">
          {away ?? "–"}
        </Figure>
        <Figure title="Up for" note={`version ${status.version}`}>
          {ageOf(status.uptime_seconds * 1000)}
        </Figure>
      </section>
    </>
  );
}

function stateOf({ ready, draining }: Status): string {
  if (draining) return "draining";
  return ready ? "ready" : "not ready";
}

function whyOf({ ready, draining, store, listeners }: Status): ReactNode {
  if (draining) return "It is stopping; open runs end.";
  if (ready) return listeners.data;
  return store.entries === undefined
    ? "The receipt store does not answer: nothing is delivered."
    : "Receipts or threads cannot be written; see /readyz.";
}

function StalePolicy(): ReactNode {
  const { answer } = useAnswer<Policy>("/v1/policy", 5000);
  return (
    <section className="notice bad" aria-label="The policy">
      <strong>The newest text of the policy does not load; the last good one decides.</strong>
      {answer === undefined ? null : <PolicyIssues issues={answer.issues} />}
    </section>
  );
}
