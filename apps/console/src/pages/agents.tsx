import { useState } from "react";
import type { ReactNode } from "react";
import type { Agents, AgentState } from "../api/responses.js";
import { ControlProblem, fetchJson } from "../api/request.js";
import { useExplanation } from "../api/use-explanation.js";
import { useResource } from "../api/use-resource.js";
import { hrefOf } from "../route/route.js";
import { announce } from "../components/announce.js";
import { StateBadge } from "../components/badge.js";
import { InlineCode } from "../components/inline-code.js";
import { Reason, useMissingRole } from "../components/needs-role.js";
import { Empty, Failure, Loading } from "../components/states.js";
import { Text } from "../components/text.js";
import { Age, Time } from "../components/time.js";
import { visibleText } from "../components/visible-text.js";
import { runsIn, StopAgents } from "./stop-agents.js";

/** The agents: whether they respond, why not, and the stop of all their runs. */
export function AgentsPage(): ReactNode {
  const { data, problem, reload } = useResource<Agents>("/v1/agents", 5000);
  const missing = useMissingRole("operator");
  // `null` stops every agent.
  const [stopping, setStopping] = useState<string | null>();
  return (
    <>
      <div className="head">
        <h1 tabIndex={-1}>Agents</h1>
        <span className="buttons">
          <Reason text={missing} />
          <button
            type="button"
            className="danger"
            disabled={missing !== undefined || data === undefined}
            onClick={() => setStopping(null)}
          >
            Stop all agents…
          </button>
        </span>
      </div>
      {problem === undefined ? null : <Failure problem={problem} onRetry={reload} />}
      {data?.partial === true ? (
        <p className="notice warn">A gateway did not respond: the numbers of runs are too low.</p>
      ) : null}
      {data === undefined ? (
        problem === undefined && <Loading what="agents" />
      ) : data.items.length === 0 ? (
        <Empty title="No agents">Add one under agents in countersign.yaml.</Empty>
      ) : (
        <div className="columns">
          {data.items.map((agent) => (
            <Agent
              key={agent.name}
              agent={agent}
              missing={missing}
              onStop={() => setStopping(agent.name)}
              onChange={reload}
            />
          ))}
        </div>
      )}
      {stopping === undefined ? null : (
        <StopAgents
          agent={stopping ?? undefined}
          onDone={() => {
            setStopping(undefined);
            reload();
          }}
        />
      )}
    </>
  );
}

function Agent({
  agent,
  missing,
  onStop,
  onChange,
}: {
  readonly agent: AgentState;
  readonly missing: string | undefined;
  readonly onStop: () => void;
  readonly onChange: () => void;
}): ReactNode {
  const [problem, setProblem] = useState<ControlProblem>();
  const { name, contained, recent_failures: failures } = agent;
  const resume = async (): Promise<void> => {
    setProblem(undefined);
    try {
      await fetchJson(`/v1/agents/${encodeURIComponent(name)}/resume`, { method: "POST" });
      announce(`The agent ${visibleText(name)} gets new runs again`);
      onChange();
    } catch (error) {
      if (error instanceof ControlProblem) setProblem(error);
    }
  };
  return (
    <section className="card" aria-label={`Agent ${visibleText(name)}`}>
      <div className="head">
        <h2>
          <Text value={name} isWrapped />
        </h2>
        <StateBadge name={contained === undefined ? agent.health : "stopped"} />
      </div>
      <p className="faint mono">
        <Text value={agent.url} isWrapped />
      </p>
      {contained === undefined ? null : (
        <p className="notice warn">
          <span>
            Stopped by{" "}
            <strong>
              <Text value={contained.operator} isWrapped />
            </strong>{" "}
            at <Time at={contained.at} isFull isShort />: the gateway refuses new runs of this
            agent.
          </span>
        </p>
      )}
      <p>
        <a href={hrefOf(["runs"], { view: "running" })}>{runsIn(agent.open_runs, "open")}</a>,{" "}
        {agent.last_success_at === undefined ? (
          "no successful run since the gateway started"
        ) : (
          <>
            last success <Age since={agent.last_success_at} /> ago
          </>
        )}
        , <a href={hrefOf(["receipts"], { agent_id: name, verdict: "blocked" })}>blocked events</a>
      </p>
      {failures.length === 0 ? (
        <p className="faint">No recent failures.</p>
      ) : (
        <ul className="failures" aria-label="Recent failures">
          {failures.map((failure) => (
            <AgentFailure key={`${failure.at} ${failure.code}`} failure={failure} />
          ))}
        </ul>
      )}
      {problem === undefined ? null : <Failure problem={problem} />}
      <div className="buttons">
        {contained === undefined ? null : (
          <button type="button" disabled={missing !== undefined} onClick={resume}>
            Resume
          </button>
        )}
        <button type="button" className="danger" disabled={missing !== undefined} onClick={onStop}>
          Stop all runs…<span className="unseen"> of {visibleText(name)}</span>
        </button>
      </div>
    </section>
  );
}

function AgentFailure({
  failure: { at, code, reason },
}: {
  readonly failure: AgentState["recent_failures"][number];
}): ReactNode {
  const explanation = useExplanation(code);
  return (
    <li>
      <Time at={at} isFull isShort />{" "}
      <code>
        <Text value={code} isWrapped />
      </code>{" "}
      <Text value={reason} isWrapped />
      {explanation === undefined ? null : (
        <p className="faint small-print">
          <InlineCode text={`Fix: ${explanation.remedy}.`} />
        </p>
      )}
    </li>
  );
}
