import { useState } from "react";
import type { FormEvent, ReactNode } from "react";
import { ControlProblem, fetchJson } from "../api/request.js";
import { announce } from "../components/announce.js";
import { Reason, useMissingRole } from "../components/needs-role.js";
import { Failure } from "../components/states.js";
import { Text } from "../components/text.js";
import { capabilityIdOf } from "./capability-id.js";

/** Revokes a token by its id, or by itself: it does not leave the page. */
export function RevokeForm({ onRevoked }: { readonly onRevoked: () => void }): ReactNode {
  const [draft, setDraft] = useState("");
  const [isBusy, setBusy] = useState(false);
  const missing = useMissingRole("operator");
  const [problem, setProblem] = useState<ControlProblem>();
  const [revoked, setRevoked] = useState<string>();
  const id = capabilityIdOf(draft);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (id === undefined) return;
    setBusy(true);
    setProblem(undefined);
    setRevoked(undefined);
    try {
      await fetchJson("/v1/capabilities/revoke", { method: "POST", body: { id } });
      setRevoked(id);
      setDraft("");
      announce("The token was revoked");
      onRevoked();
    } catch (error) {
      if (error instanceof ControlProblem) setProblem(error);
    }
    setBusy(false);
  };
  return (
    <section className="card" aria-labelledby="revoke">
      <h2 id="revoke">Revoke a token</h2>
      <p className="faint">
        The token is invalid from the next event of every open stream, on every gateway that uses
        the same database.
      </p>
      <form className="stack" onSubmit={submit}>
        <label className="field">
          <span>Token or token id</span>
          <textarea
            rows={3}
            value={draft}
            spellCheck={false}
            onChange={(event) => setDraft(event.target.value)}
          />
        </label>
        {draft.trim() === "" ? null : id === undefined ? (
          <p className="notice bad">This is not a valid token or token id.</p>
        ) : (
          <p className="faint">
            Revokes{" "}
            <code>
              <Text value={id} isWrapped />
            </code>
          </p>
        )}
        {problem === undefined ? null : <Failure problem={problem} />}
        {revoked === undefined ? null : (
          <p className="notice good" role="status">
            <span>
              Revoked:{" "}
              <code>
                <Text value={revoked} isWrapped />
              </code>
            </span>
          </p>
        )}
        <Reason text={missing} />
        <div className="buttons">
          <button
            type="submit"
            className="danger"
            disabled={missing !== undefined || isBusy || id === undefined}
          >
            Revoke
          </button>
        </div>
      </form>
    </section>
  );
}
