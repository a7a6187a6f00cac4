import { useRef, useState } from "react";
import type { FormEvent, ReactNode } from "react";
import type { Comparison, Policy, PolicyIssue } from "../api/responses.js";
import { ControlProblem, fetchJson } from "../api/request.js";
import { announce } from "../components/announce.js";
import { Reason, useMissingRole } from "../components/needs-role.js";
import { Failure } from "../components/states.js";
import { PolicyEditor } from "../editor/policy-editor.js";
import { ApplyPolicy, useReadOnly } from "./apply-policy.js";
import { ComparisonResult } from "./comparison-result.js";
import { PolicyIssues } from "./policy-issues.js";

/** The number of receipts that a candidate evaluates again. */
const RECORDED = 5000;

type Outcome =
  | { readonly kind: "compared"; readonly comparison: Comparison }
  | { readonly kind: "refused"; readonly issues: readonly PolicyIssue[] }
  | { readonly kind: "failed"; readonly problem: ControlProblem };

/** A candidate: written with checks, compared with the active policy, and applied. */
export function CandidatePolicy({
  policy,
  draft,
  onDraft,
  onApplied,
}: {
  readonly policy: Policy;
  readonly draft: string;
  readonly onDraft: (text: string) => void;
  readonly onApplied: () => void;
}): ReactNode {
  const [isBusy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<Outcome>();
  const [isApplying, setApplying] = useState(false);
  const chooser = useRef<HTMLInputElement>(null);
  const readOnly = useReadOnly(policy);
  const missingRole = useMissingRole("admin");
  const write = (text: string): void => {
    onDraft(text);
    setOutcome(undefined);
  };
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    const next = await compare(draft);
    setOutcome(next);
    announce(
      next.kind === "compared"
        ? `The candidate is ${next.comparison.verdict}`
        : "The candidate could not be compared",
    );
    setBusy(false);
  };
  const readFile = async (file: File | undefined): Promise<void> => {
    if (file !== undefined) write(await file.text());
    if (chooser.current !== null) chooser.current.value = "";
  };
  return (
    <section className="card" aria-labelledby="compare">
      <div className="head">
        <h2 id="compare">Candidate</h2>
        <Reason text={readOnly} />
      </div>
      <p className="faint">
        Write another policy and compare it: which events it would newly allow or block, and how
        many of the newest recorded decisions would change. Ctrl-Space proposes keys and values.
      </p>
      <form className="stack" onSubmit={submit}>
        <PolicyEditor
          label="Candidate policy (YAML or JSON)"
          hasChecks={policy.writable !== undefined && missingRole === undefined}
          text={draft}
          onText={write}
        />
        <div className="buttons">
          <button
            type="submit"
            className="primary"
            disabled={isBusy || missingRole !== undefined || draft.trim() === ""}
          >
            {isBusy ? "Comparing…" : "Compare"}
          </button>
          <button
            type="button"
            className="danger"
            disabled={readOnly !== undefined || draft.trim() === "" || draft === policy.text}
            onClick={() => setApplying(true)}
          >
            Apply…
          </button>
          <button type="button" onClick={() => chooser.current?.click()}>
            Choose a file
          </button>
          <button
            type="button"
            onClick={() => write(policy.text ?? JSON.stringify(policy.document, undefined, 2))}
          >
            Insert the active policy
          </button>
          <input
            ref={chooser}
            type="file"
            accept=".yaml,.yml,.json"
            hidden
            aria-label="Candidate policy file"
            onChange={(event) => void readFile(event.target.files?.[0])}
          />
        </div>
      </form>
      {outcome === undefined ? null : <CompareOutcome outcome={outcome} />}
      {isApplying ? (
        <ApplyPolicy
          policy={policy}
          text={draft}
          comparison={outcome?.kind === "compared" ? outcome.comparison : undefined}
          onDone={(isApplied) => {
            setApplying(false);
            if (isApplied) onApplied();
          }}
        />
      ) : null}
    </section>
  );
}

async function compare(text: string): Promise<Outcome> {
  try {
    const body = { text, recorded: RECORDED };
    const comparison = await fetchJson<Comparison>("/v1/policy/compare", { method: "POST", body });
    return { kind: "compared", comparison };
  } catch (error) {
    if (!(error instanceof ControlProblem)) throw error;
    if (error.status !== 422) return { kind: "failed", problem: error };
    return { kind: "refused", issues: (error.body as Pick<Policy, "issues">).issues };
  }
}

function CompareOutcome({ outcome }: { readonly outcome: Outcome }): ReactNode {
  if (outcome.kind === "failed") return <Failure problem={outcome.problem} />;
  if (outcome.kind === "compared") return <ComparisonResult comparison={outcome.comparison} />;
  return (
    <div className="notice bad" role="alert">
      <strong>The candidate cannot be loaded.</strong>
      <PolicyIssues issues={outcome.issues} />
    </div>
  );
}
