import type { ReactNode } from "react";
import type { Run } from "../api/responses.js";
import { hrefOf } from "../route/route.js";
import { useMissingRole } from "../components/needs-role.js";
import { StateBadge } from "../components/badge.js";
import { Text } from "../components/text.js";
import { Scroll } from "../components/scroll.js";
import { Age } from "../components/time.js";

/** Runs as a table, the place of each as a link. */
export function RunTable({
  runs,
  isShort = false,
  hasGateways = false,
  onStop,
}: {
  readonly runs: readonly Run[];
  readonly isShort?: boolean;
  readonly hasGateways?: boolean;
  readonly onStop?: (run: Run) => void;
}): ReactNode {
  const missing = useMissingRole("operator");
  return (
    <Scroll title="Runs, scroll sideways">
      <table>
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">State</th>
            <th scope="col">Agent</th>
            <th scope="col">Principal</th>
            {isShort ? null : <th scope="col">Session</th>}
            {hasGateways ? <th scope="col">Gateway</th> : null}
            {isShort ? null : (
              <th scope="col" className="number">
                Forwarded
              </th>
            )}
            <th scope="col" className="number">
              Blocked
            </th>
            <th scope="col">Duration</th>
            {onStop === undefined ? null : (
              <th scope="col">
                <span className="unseen">Stop</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <tr key={`${run.session_id}\0${run.run_id}\0${run.gateway}`}>
              <td className="name">
                <a href={hrefOf(["runs", run.session_id, run.run_id])}>
                  <Text value={run.run_id} />
                </a>
              </td>
              <td>
                <StateBadge name={run.status} />
              </td>
              <td className="name">
                <Text value={run.agent} />
              </td>
              <td className="name">
                {run.principal === undefined ? (
                  <span className="faint">anonymous</span>
                ) : (
                  <a href={hrefOf(["receipts"], { principal: run.principal })}>
                    <Text value={run.principal} />
                  </a>
                )}
              </td>
              {isShort ? null : (
                <td className="name">
                  <a href={hrefOf(["receipts"], { session_id: run.session_id })}>
                    <Text value={run.session_id} />
                  </a>
                </td>
              )}
              {hasGateways ? (
                <td className="name">
                  <Text value={run.gateway} />
                </td>
              ) : null}
              {isShort ? null : <td className="number">{run.forwarded.toLocaleString()}</td>}
              <td className={run.blocked > 0 ? "number bad" : "number"}>
                {run.blocked.toLocaleString()}
              </td>
              <td>
                <Age since={run.started_at} until={run.ended_at} />
              </td>
              {onStop === undefined ? null : (
                <td>
                  {run.status === "running" ? (
                    <button
                      type="button"
                      className="small danger"
                      disabled={missing !== undefined}
                      title={missing}
                      onClick={() => onStop(run)}
                    >
                      Stop
                    </button>
                  ) : null}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
