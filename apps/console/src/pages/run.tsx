import { useState } from "react";
import type { ReactNode } from "react";
import type { ChatSession, Run } from "../api/responses.js";
import { useResource } from "../api/use-resource.js";
import { useExplanation } from "../api/use-explanation.js";
import { hrefOf } from "../route/route.js";
import { useMissingRole } from "../components/needs-role.js";
import { StateBadge } from "../components/badge.js";
import { Figure } from "../components/figure.js";
import { Text } from "../components/text.js";
import { Age, Time } from "../components/time.js";
import { InlineCode } from "../components/inline-code.js";
import { RunReceipts } from "./run-receipts.js";
import { StopRun } from "./stop-run.js";

/** One run: how it is, and its receipts in order. */
export function RunPage({
  session,
  run,
}: {
  readonly session: string;
  readonly run: string;
}): ReactNode {
  const known = useResource<ChatSession>(`/v1/sessions/${encodeURIComponent(session)}`, 2000);
  const found = known.data?.runs.find((one) => one.run_id === run);
  const own: Run | undefined = found === undefined ? undefined : { ...found, session_id: session };
  const isOpen = own?.status === "running";
  const [isStopping, setStopping] = useState(false);
  const missing = useMissingRole("operator");
  return (
    <>
      <p>
        <a href="#/runs">Runs</a>
      </p>
      <div className="head">
        <h1 tabIndex={-1}>
          Run <Text value={run} isWrapped />
        </h1>
        {isOpen ? (
          <button
            type="button"
            className="danger"
            disabled={missing !== undefined}
            title={missing}
            onClick={() => setStopping(true)}
          >
            Stop
          </button>
        ) : null}
      </div>
      {own === undefined ? (
        <p className="faint">
          {known.data === undefined && known.problem === undefined
            ? "Loading its state…"
            : "No gateway holds the state of this run any more; its receipts are below."}
        </p>
      ) : (
        <Facts run={own} />
      )}
      <RunReceipts key={`${session} ${run}`} session={session} run={run} isOpen={isOpen} />
      {isStopping && own !== undefined ? (
        <StopRun
          run={own}
          onDone={() => {
            setStopping(false);
            known.reload();
          }}
        />
      ) : null}
    </>
  );
}

function Facts({ run }: { readonly run: Run }): ReactNode {
  const explanation = useExplanation(run.failure);
  return (
    <>
      <section className="figures" aria-label="The run">
        <Figure title="State" note={<Age since={run.started_at} until={run.ended_at} />}>
          <StateBadge name={run.status} />
        </Figure>
        <Figure
          title="Principal"
          {...(run.principal === undefined
            ? {}
            : { href: hrefOf(["receipts"], { principal: run.principal }) })}
          note={<Text value={run.client_address ?? ""} />}
        >
          {run.principal === undefined ? "anonymous" : <Text value={run.principal} />}
        </Figure>
        <Figure title="Agent" href="#/agents" note={run.transport}>
          <Text value={run.agent} />
        </Figure>
        <Figure title="Forwarded" note="events">
          {run.forwarded.toLocaleString()}
        </Figure>
        <Figure title="Blocked" note="events">
          {run.blocked.toLocaleString()}
        </Figure>
        <Figure
          title="Session"
          href={hrefOf(["receipts"], { session_id: run.session_id })}
          note={<Text value={run.thread_id} />}
        >
          <Text value={run.session_id} />
        </Figure>
        <Figure title="Started" note={<Text value={run.gateway} />}>
          <Time at={run.started_at} />
        </Figure>
      </section>
      {run.failure === undefined ? null : (
        <p className="notice bad">
          <span>
            The run ended with{" "}
            <code>
              <Text value={run.failure} isWrapped />
            </code>
            .<InlineCode text={explanation === undefined ? "" : ` Fix: ${explanation.remedy}.`} />
          </span>
        </p>
      )}
    </>
  );
}
