import { useState } from "react";
import type { FormEvent, ReactNode } from "react";
import { ControlProblem, fetchJson } from "../api/request.js";
import { announce } from "../components/announce.js";
import { CopyButton } from "../components/copy-button.js";
import { Field } from "../components/field.js";
import { Reason, useMissingRole } from "../components/needs-role.js";
import { Failure } from "../components/states.js";
import { Text } from "../components/text.js";
import { Time } from "../components/time.js";
import { grantOf } from "./grant.js";
import type { GrantDraft } from "./grant.js";

type Issued = {
  readonly token: string;
  readonly id: string;
  readonly expires_at: number;
  readonly principal?: string;
  readonly session_owner?: string | null;
};

const EMPTY: GrantDraft = {
  agent: "",
  session: "",
  principal: "",
  allowsUnowned: false,
  scopes: "",
  amount: "10",
  unit: "60",
  events: "",
  isAttached: true,
};
const UNITS = [
  ["60", "minutes"],
  ["3600", "hours"],
  ["86400", "days"],
] as const;

/** Issues a token, which is shown once. */
export function IssueForm({ onIssued }: { readonly onIssued: () => void }): ReactNode {
  const [draft, setDraft] = useState(EMPTY);
  const [isBusy, setBusy] = useState(false);
  const missing = useMissingRole("operator");
  const [fault, setFault] = useState<string>();
  const [problem, setProblem] = useState<ControlProblem>();
  const [issued, setIssued] = useState<Issued>();
  const set = (change: Partial<GrantDraft>): void => setDraft((last) => ({ ...last, ...change }));
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const grant = grantOf(draft);
    setFault("fault" in grant ? grant.fault : undefined);
    setProblem(undefined);
    setIssued(undefined);
    if ("fault" in grant) return;
    setBusy(true);
    try {
      setIssued(await fetchJson<Issued>("/v1/capabilities", { method: "POST", body: grant.body }));
      announce("A token was issued");
      onIssued();
    } catch (error) {
      if (error instanceof ControlProblem) setProblem(error);
    }
    setBusy(false);
  };
  return (
    <section className="card" aria-labelledby="issue">
      <h2 id="issue">Issue a token</h2>
      <form className="stack" onSubmit={submit}>
        <Field title="Agent" value={draft.agent} onChange={(agent) => set({ agent })} />
        <Field
          title="Session (empty: every session)"
          value={draft.session}
          onChange={(session) => set({ session })}
        />
        <Field
          title="Principal (empty: the owner of the session)"
          value={draft.principal}
          onChange={(principal) => set({ principal })}
        />
        <label className="field">
          <span>Scopes, one per line</span>
          <textarea
            rows={3}
            value={draft.scopes}
            spellCheck={false}
            placeholder="ui:submit:modal:confirm-refund"
            aria-describedby="scope-help"
            onChange={(event) => set({ scopes: event.target.value })}
          />
        </label>
        <p id="scope-help" className="faint small-print">
          <code>ui:CLASS:COMPONENT</code> or <code>ui:CLASS:COMPONENT:ID</code>, <code>*</code> for
          any. Classes: display, mutate, navigate, create, destroy, submit, alert.
        </p>
        <div className="row">
          <Field
            title="Expires in"
            type="number"
            value={draft.amount}
            onChange={(amount) => set({ amount })}
          />
          <label className="field">
            <span>Unit</span>
            <select value={draft.unit} onChange={(event) => set({ unit: event.target.value })}>
              {UNITS.map(([value, title]) => (
                <option key={value} value={value}>
                  {title}
                </option>
              ))}
            </select>
          </label>
          <Field
            title="Maximum events"
            type="number"
            value={draft.events}
            onChange={(events) => set({ events })}
          />
        </div>
        <label className="check">
          <input
            type="checkbox"
            checked={draft.isAttached}
            onChange={(event) => set({ isAttached: event.target.checked })}
          />
          <span>Attach the token to the session</span>
        </label>
        <label className="check">
          <input
            type="checkbox"
            checked={draft.allowsUnowned}
            onChange={(event) => set({ allowsUnowned: event.target.checked })}
          />
          <span>Allow a session without an owner: its first user may use the token</span>
        </label>
        {fault === undefined ? null : (
          <p className="notice bad" role="alert">
            {fault}
          </p>
        )}
        {problem === undefined ? null : <Failure problem={problem} />}
        <Reason text={missing} />
        <div className="buttons">
          <button type="submit" className="primary" disabled={missing !== undefined || isBusy}>
            Issue
          </button>
        </div>
      </form>
      {issued === undefined ? null : <Token issued={issued} />}
    </section>
  );
}

function Token({ issued }: { readonly issued: Issued }): ReactNode {
  return (
    <section className="notice good" aria-label="The token">
      <div className="head">
        <strong>Token (shown only once)</strong>
        <CopyButton text={issued.token} what="token" />
      </div>
      <pre className="wrapped" tabIndex={0} aria-label="Token">
        {issued.token}
      </pre>
      <p>
        Valid for{" "}
        {issued.principal === undefined ? (
          "any user of the session"
        ) : (
          <>
            <Text value={issued.principal} isWrapped /> only
          </>
        )}
        .{issued.session_owner === null ? " The session has no owner yet." : ""}
      </p>
      <p>
        Expires: <Time at={issued.expires_at * 1000} isFull />. Token id, for revoking:{" "}
        <code>
          <Text value={issued.id} isWrapped />
        </code>{" "}
        <CopyButton text={issued.id} what="id" />
      </p>
    </section>
  );
}
