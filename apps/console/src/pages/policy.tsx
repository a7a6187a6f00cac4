import { useState } from "react";
import type { ReactNode } from "react";
import type { Policy, PolicyIssue } from "../api/responses.js";
import { ControlProblem, fetchJson } from "../api/request.js";
import { useResource } from "../api/use-resource.js";
import { announce } from "../components/announce.js";
import { StateBadge } from "../components/badge.js";
import { CopyButton } from "../components/copy-button.js";
import { Failure, Loading } from "../components/states.js";
import { Text } from "../components/text.js";
import { useMissingRole } from "../components/needs-role.js";
import { CandidatePolicy } from "./candidate-policy.js";
import { PolicyBlocks } from "./policy-blocks.js";
import { PolicyHistory } from "./policy-history.js";
import { PolicyIssues } from "./policy-issues.js";
import { PolicyText } from "./policy-text.js";
import { WouldBlock } from "./would-block.js";

type Reload =
  | { readonly kind: "loaded"; readonly isChanged: boolean }
  | { readonly kind: "refused"; readonly issues: readonly PolicyIssue[] }
  | { readonly kind: "failed"; readonly problem: ControlProblem };

/** The policy that decides, and what a stricter one would do. */
export function PolicyPage({ query }: { readonly query: URLSearchParams }): ReactNode {
  const { data, problem, reload } = useResource<Policy>("/v1/policy", 5000);
  const [isBusy, setBusy] = useState(false);
  const [result, setResult] = useState<Reload>();
  const [draft, setDraft] = useState("");
  const missing = useMissingRole("admin");
  const reloadFile = async (): Promise<void> => {
    setBusy(true);
    const next = await reloadPolicy();
    setResult(next);
    announce(next.kind === "loaded" ? "Policy reloaded" : "Policy not reloaded");
    setBusy(false);
    reload();
  };
  return (
    <>
      <div className="head">
        <h1 tabIndex={-1}>Policy</h1>
        <button
          type="button"
          onClick={reloadFile}
          disabled={isBusy || missing !== undefined}
          title={missing}
        >
          {isBusy ? "Reading…" : "Reload policy"}
        </button>
      </div>
      {result === undefined ? null : <Result result={result} />}
      {data === undefined ? (
        problem === undefined ? (
          <Loading what="the policy" />
        ) : (
          <Failure problem={problem} onRetry={reload} />
        )
      ) : (
        <>
          {data.stale && result?.kind !== "refused" ? <Stale issues={data.issues} /> : null}
          <Facts policy={data} />
          <WouldBlock query={query} mode={data.mode} />
          <PolicyBlocks policy={data} onChange={reload} />
          <PolicyText policy={data} line={lineOf(query)} />
          <CandidatePolicy policy={data} draft={draft} onDraft={setDraft} onApplied={reload} />
          {data.writable === undefined ? null : (
            <PolicyHistory policy={data} onChange={reload} onInspect={setDraft} />
          )}
        </>
      )}
    </>
  );
}

function lineOf(query: URLSearchParams): number | undefined {
  const line = query.get("line") ?? "";
  return /^\d{1,6}$/u.test(line) ? Number(line) : undefined;
}

async function reloadPolicy(): Promise<Reload> {
  try {
    const { changed } = await fetchJson<{ changed: boolean }>("/v1/policy/reload", {
      method: "POST",
    });
    return { kind: "loaded", isChanged: changed };
  } catch (error) {
    if (!(error instanceof ControlProblem)) throw error;
    if (error.status !== 422) return { kind: "failed", problem: error };
    return { kind: "refused", issues: (error.body as Pick<Policy, "issues">).issues };
  }
}

function Result({ result }: { readonly result: Reload }): ReactNode {
  if (result.kind === "failed") return <Failure problem={result.problem} />;
  if (result.kind === "refused") return <Stale issues={result.issues} />;
  return (
    <p className="notice good" role="status">
      {result.isChanged
        ? "The new policy is active; open runs keep the policy they started with."
        : "The policy was reloaded and is unchanged."}
    </p>
  );
}

function Stale({ issues }: { readonly issues: readonly PolicyIssue[] }): ReactNode {
  return (
    <section className="notice bad" role="alert">
      <strong>The newest policy file cannot be loaded; the last valid policy stays active.</strong>
      <PolicyIssues issues={issues} />
    </section>
  );
}

function Facts({ policy }: { readonly policy: Policy }): ReactNode {
  const { reloads } = policy;
  return (
    <section className="card" aria-label="The active policy">
      <dl className="fields">
        <div>
          <dt>name</dt>
          <dd>
            <Text value={policy.name ?? "unnamed"} isWrapped />
          </dd>
        </div>
        <div>
          <dt>mode</dt>
          <dd>
            <StateBadge name={policy.mode} />
            <span className="says">
              {policy.mode === "enforce"
                ? "The gateway blocks an event that violates a rule"
                : "The gateway forwards an event that violates a rule and records the rule"}
            </span>
          </dd>
        </div>
        <div>
          <dt>hash</dt>
          <dd>
            <span className="mono">{policy.hash}</span>{" "}
            <CopyButton text={policy.hash} what="hash" />
            <span className="says">Each log entry holds the hash of the policy that decided</span>
          </dd>
        </div>
        <div>
          <dt>files</dt>
          <dd>
            {policy.files.length === 0 ? (
              "none: the built-in policy is active"
            ) : (
              <Text value={policy.files.join(", ")} isWrapped />
            )}
          </dd>
        </div>
        <div>
          <dt>reloads</dt>
          <dd>
            {reloads.ok + reloads.failed} reloads, {reloads.failed} failed
          </dd>
        </div>
      </dl>
    </section>
  );
}
