import { useRef, useState } from "react";
import type { FormEvent, ReactNode } from "react";
import type { Comparison, Policy, PolicyIssue } from "../api/responses.js";
import { ControlProblem, fetchJson } from "../api/request.js";
import { announce } from "../components/announce.js";
import { Failure } from "../components/states.js";
import { ComparisonResult } from "./comparison-result.js";
import { PolicyIssues } from "./policy-issues.js";

/** The number of receipts that a candidate evaluates again. */
const RECORDED = 5000;

type Outcome =
  | { readonly kind: "compared"; readonly comparison: Comparison }
  | { readonly kind: "refused"; readonly issues: readonly PolicyIssue[] }
  | { readonly kind: "failed"; readonly problem: ControlProblem };

/** Compares a candidate with the active policy before it is saved. */
export function ComparePolicy({ policy }: { readonly policy: Policy }): ReactNode {
  const [draft, setDraft] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<Outcome>();
  const chooser = useRef<HTMLInputElement>(null);
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
    if (file !== undefined) setDraft(await file.text());
    if (chooser.current !== null) chooser.current.value = "";
  };
  return (
    <section className="card" aria-labelledby="compare">
      <h2 id="compare">Compare with another policy</h2>
      <p className="faint">
        Shows which events the candidate would newly allow or block, and how many of the newest
        recorded decisions would change. Comparing does not load the candidate.
      </p>
      <form className="stack" onSubmit={submit}>
        <label className="field">
          <span>Candidate policy (YAML or JSON)</span>
          <textarea
            rows={8}
            value={draft}
            spellCheck={false}
            placeholder={'hushspec: "0.1.0"\nrules:\n  ag_ui: …'}
            onChange={(event) => setDraft(event.target.value)}
          />
        </label>
        <div className="buttons">
          <button type="submit" className="primary" disabled={isBusy || draft.trim() === ""}>
            {isBusy ? "Comparing…" : "Compare"}
          </button>
          <button type="button" onClick={() => chooser.current?.click()}>
            Choose a file
          </button>
          <button
            type="button"
            onClick={() => setDraft(JSON.stringify(policy.document, undefined, 2))}
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
