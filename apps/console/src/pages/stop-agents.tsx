import { useState } from "react";
import type { ReactNode } from "react";
import type { StopAll } from "../api/responses.js";
import { ControlProblem, fetchJson } from "../api/request.js";
import { useResource } from "../api/use-resource.js";
import { announce } from "../components/announce.js";
import { Confirm } from "../components/dialog.js";
import { Failure, Loading } from "../components/states.js";
import { Text } from "../components/text.js";

const SHOWN = 20;

/** Stops all runs of an agent, or of every agent, after it has listed them. */
export function StopAgents({
  agent,
  onDone,
}: {
  /** Every agent if `undefined`. */
  readonly agent: string | undefined;
  readonly onDone: () => void;
}): ReactNode {
  const query = agent === undefined ? "" : `?agent=${encodeURIComponent(agent)}`;
  const listed = useResource<StopAll>(`/v1/stop-all${query}`);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ControlProblem>();
  const stop = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      const body = {
        ...(agent === undefined ? {} : { agent }),
        ...(listed.data === undefined ? {} : { expect_runs: listed.data.runs.length }),
      };
      await fetchJson("/v1/stop-all", { method: "POST", body });
      announce("The runs were stopped");
      onDone();
    } catch (error) {
      if (error instanceof ControlProblem) setProblem(error);
      // Another number of runs is open now: the list shows them before the next try.
      listed.reload();
      setBusy(false);
    }
  };
  const { data } = listed;
  return (
    <Confirm
      title={agent === undefined ? "Stop all agents?" : "Stop this agent?"}
      action={data === undefined ? "Stop" : `Stop ${runsIn(data.runs.length)}`}
      isBusy={isBusy || data === undefined}
      onYes={stop}
      onNo={onDone}
    >
      {data === undefined ? (
        listed.problem === undefined ? (
          <Loading what="the open runs" />
        ) : (
          <Failure problem={listed.problem} onRetry={listed.reload} />
        )
      ) : (
        <>
          <p>
            The gateway ends these runs and refuses new runs of{" "}
            <strong>
              <Text value={data.agents.join(", ")} isWrapped />
            </strong>{" "}
            until an operator resumes each agent.
          </p>
          {data.partial === true ? (
            <p className="notice warn">A gateway did not respond: it may have more runs.</p>
          ) : null}
          {data.runs.length === 0 ? (
            <p className="faint">No run is open now.</p>
          ) : (
            <ul className="stop-list">
              {data.runs.slice(0, SHOWN).map((run) => (
                <li key={`${run.session_id} ${run.run_id} ${run.gateway}`}>
                  <Text value={run.run_id} isWrapped />{" "}
                  <span className="faint">
                    of <Text value={run.principal ?? "anonymous"} />, agent{" "}
                    <Text value={run.agent} />
                  </span>
                </li>
              ))}
              {data.runs.length > SHOWN ? (
                <li className="faint">and {data.runs.length - SHOWN} more</li>
              ) : null}
            </ul>
          )}
        </>
      )}
      {problem === undefined ? null : <Failure problem={problem} />}
    </Confirm>
  );
}

/** A number of runs in words. */
export function runsIn(count: number, kind = ""): string {
  return `${count.toLocaleString()} ${kind}${kind === "" ? "" : " "}${count === 1 ? "run" : "runs"}`;
}
