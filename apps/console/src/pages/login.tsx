import { useState } from "react";
import type { FormEvent, ReactNode } from "react";
import { fetchJson, reasonOf } from "../api/request.js";
import type { ControlProblem } from "../api/request.js";
import { signIn, useSession } from "../api/session.js";
import { Mark } from "../components/mark.js";

/** The form for the admin token. */
export function LoginPage(): ReactNode {
  const { reason } = useSession();
  const [token, setToken] = useState("");
  const [isKept, setKept] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string>();
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const tried = token.trim();
    if (tried === "") {
      setFailure("Enter the admin token.");
      return;
    }
    // A header takes nothing else; a token that was copied with a part of its line is told before it is tried.
    if (!/^[\x21-\x7e]+$/u.test(tried)) {
      setFailure("The token contains invalid characters. Copy it again.");
      return;
    }
    setBusy(true);
    try {
      await fetchJson("/v1/status", { token: tried });
      signIn(tried, isKept);
    } catch (error) {
      setFailure(reasonOf(error as ControlProblem));
      setBusy(false);
    }
  };
  const told = failure ?? reason;
  return (
    <main className="login">
      <form className="card" onSubmit={submit}>
        <h1>
          <Mark /> Countersign
        </h1>
        <p className="faint">Sign in to the console of this gateway.</p>
        {told === undefined ? null : (
          <p className="notice bad" role="alert">
            {told}
          </p>
        )}
        <label className="field">
          <span>Admin token</span>
          <input
            type="password"
            name="token"
            autoComplete="off"
            spellCheck={false}
            value={token}
            onChange={(event) => setToken(event.target.value)}
            aria-describedby="token-help"
          />
        </label>
        <label className="check">
          <input
            type="checkbox"
            checked={isKept}
            onChange={(event) => setKept(event.target.checked)}
          />
          <span>Keep the token until this tab is closed</span>
        </label>
        <button type="submit" className="primary" disabled={isBusy}>
          {isBusy ? "Signing in…" : "Sign in"}
        </button>
        <p id="token-help" className="faint small-print">
          <code>countersign demo</code> prints the token in its terminal.{" "}
          <code>countersign serve</code> prints it once, at its first start. For a new token, delete{" "}
          <code>admin-token.sha256</code> from the key directory and restart.
        </p>
      </form>
    </main>
  );
}
