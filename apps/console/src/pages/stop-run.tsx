import { useState } from "react";
import type { ReactNode } from "react";
import type { Run } from "../api/responses.js";
import { ControlProblem, fetchJson } from "../api/request.js";
import { announce } from "../components/announce.js";
import { Confirm } from "../components/dialog.js";
import { Failure } from "../components/states.js";
import { Text } from "../components/text.js";

/** Stops a run after it was named and confirmed. */
export function StopRun({
  run,
  onDone,
}: {
  readonly run: Run;
  readonly onDone: () => void;
}): ReactNode {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ControlProblem>();
  const stop = async (): Promise<void> => {
    setBusy(true);
    const path = [run.session_id, "runs", run.run_id, "stop"].map(encodeURIComponent).join("/");
    try {
      await fetchJson(`/v1/sessions/${path}`, { method: "POST" });
      announce("The run was stopped");
      onDone();
    } catch (error) {
      if (error instanceof ControlProblem) setProblem(error);
      setBusy(false);
    }
  };
  return (
    <Confirm
      title="Stop this run?"
      action="Stop the run"
      isBusy={isBusy}
      onYes={stop}
      onNo={onDone}
    >
      <p>
        Run{" "}
        <strong>
          <Text value={run.run_id} isWrapped />
        </strong>{" "}
        of{" "}
        <strong>
          <Text value={run.principal ?? "an anonymous client"} isWrapped />
        </strong>
        , agent{" "}
        <strong>
          <Text value={run.agent} isWrapped />
        </strong>
        , session{" "}
        <strong>
          <Text value={run.session_id} isWrapped />
        </strong>
        .
      </p>
      <p className="faint">
        The gateway cancels the request to the agent and tells the client that the run was stopped.
      </p>
      {problem === undefined ? null : <Failure problem={problem} />}
    </Confirm>
  );
}
