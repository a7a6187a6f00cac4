import { useState } from "react";
import type { ReactNode } from "react";
import type { ChatSessions, Run, Runs } from "../api/responses.js";
import { useResource } from "../api/use-resource.js";
import { hrefOf } from "../route/route.js";
import { Empty, Failure, Loading } from "../components/states.js";
import { Text } from "../components/text.js";
import { Scroll } from "../components/scroll.js";
import { Age } from "../components/time.js";
import { RunTable } from "./run-table.js";
import { StopRun } from "./stop-run.js";

const TABS = [
  ["", "All runs"],
  ["running", "Open"],
  ["finished", "Finished"],
  ["failed", "Failed"],
  ["stopped", "Stopped"],
  ["sessions", "Sessions"],
] as const;

/** Runs and sessions, at whichever gateway they are. */
export function RunsPage({ query }: { readonly query: URLSearchParams }): ReactNode {
  const view = query.get("view") ?? "";
  return (
    <>
      <h1 tabIndex={-1}>Runs</h1>
      <nav aria-label="Filter runs">
        <ul className="tabs">
          {TABS.map(([name, title]) => (
            <li key={name}>
              <a
                href={hrefOf(["runs"], { view: name })}
                aria-current={view === name ? "true" : undefined}
              >
                {title}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {view === "sessions" ? <SessionList key="sessions" /> : <RunList key={view} status={view} />}
    </>
  );
}

function RunList({ status }: { readonly status: string }): ReactNode {
  const [limit, setLimit] = useState(100);
  const filter = status === "" ? "" : `&status=${encodeURIComponent(status)}`;
  const { data, problem, reload } = useResource<Runs>(`/v1/runs?limit=${limit}${filter}`, 2000);
  const [stopping, setStopping] = useState<Run>();
  if (data === undefined) {
    return problem === undefined ? (
      <Loading what="runs" />
    ) : (
      <Failure problem={problem} onRetry={reload} />
    );
  }
  const runs = data.runs.toSorted((one, other) => other.started_at - one.started_at);
  return (
    <>
      {problem === undefined ? null : <Failure problem={problem} />}
      {data.partial === true ? <Partial /> : null}
      {runs.length === 0 ? (
        <Empty title="No runs">
          A run starts with a request to an agent through the gateway. An ended run stays in this
          list for a limited time; its receipts stay in the <a href="#/receipts">log</a>.
        </Empty>
      ) : (
        <section className="card" aria-label="Runs">
          <RunTable
            runs={runs}
            hasGateways={new Set(runs.map((run) => run.gateway)).size > 1}
            onStop={setStopping}
          />
        </section>
      )}
      {data.cursor === undefined || limit >= 500 ? null : (
        <p>
          <button type="button" onClick={() => setLimit(500)}>
            Show more
          </button>
        </p>
      )}
      {stopping === undefined ? null : (
        <StopRun
          run={stopping}
          onDone={() => {
            setStopping(undefined);
            reload();
          }}
        />
      )}
    </>
  );
}

function SessionList(): ReactNode {
  const { data, problem, reload } = useResource<ChatSessions>("/v1/sessions?limit=100", 2000);
  if (data === undefined) {
    return problem === undefined ? (
      <Loading what="sessions" />
    ) : (
      <Failure problem={problem} onRetry={reload} />
    );
  }
  if (data.sessions.length === 0) {
    return <Empty title="No sessions yet">A session begins with its first request.</Empty>;
  }
  return (
    <section className="card" aria-label="Sessions">
      {data.partial === true ? <Partial /> : null}
      <Scroll title="Sessions, scroll sideways">
        <table>
          <thead>
            <tr>
              <th scope="col">Session</th>
              <th scope="col" className="number">
                Runs
              </th>
              <th scope="col" className="number">
                Open
              </th>
              <th scope="col" className="number">
                Forwarded
              </th>
              <th scope="col" className="number">
                Blocked
              </th>
              <th scope="col" className="number">
                Tokens
              </th>
              <th scope="col">Last used</th>
            </tr>
          </thead>
          <tbody>
            {data.sessions.map((session) => (
              <tr key={session.id}>
                <td className="name">
                  <a href={hrefOf(["receipts"], { session_id: session.id })}>
                    <Text value={session.id} />
                  </a>
                </td>
                <td className="number">{session.runs.length}</td>
                <td className="number">
                  {session.runs.filter((run) => run.status === "running").length}
                </td>
                <td className="number">{session.forwarded.toLocaleString()}</td>
                <td className={session.blocked > 0 ? "number bad" : "number"}>
                  {session.blocked.toLocaleString()}
                </td>
                <td className="number">{session.capabilities}</td>
                <td>
                  <Age since={session.last_seen} /> ago
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}

function Partial(): ReactNode {
  return (
    <p className="notice warn">
      The database does not respond: this list shows only the entries of this gateway.
    </p>
  );
}
