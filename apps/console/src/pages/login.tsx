import { useEffect, useState } from "react";
import type { FormEvent, ReactNode } from "react";
import { fetchJson, signIn } from "../api/request.js";
import type { ControlProblem } from "../api/request.js";
import { Mark } from "../components/mark.js";
import { Text } from "../components/text.js";

/** `GET /v1/login`. */
type Methods = { readonly methods: readonly string[]; readonly oidc?: { readonly name: string } };

/** The login: a token, or the identity provider. */
export function LoginPage({ reason }: { readonly reason: string | undefined }): ReactNode {
  const [token, setToken] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string>();
  const [methods, setMethods] = useState<Methods>();
  useEffect(() => {
    fetchJson<Methods>("/v1/login", { isLogin: true })
      .then(setMethods)
      // The form for a token works without it.
      .catch(() => {});
  }, []);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const tried = token.trim();
    if (tried === "") {
      setFailure("Enter your token.");
      return;
    }
    // A token that was copied with a part of its line is told before it is tried.
    if (!/^[\x21-\x7e]+$/u.test(tried)) {
      setFailure("The token contains invalid characters. Copy it again.");
      return;
    }
    setBusy(true);
    try {
      await signIn(tried);
    } catch (error) {
      setFailure(refusalOf(error as ControlProblem));
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
        {methods?.oidc === undefined ? null : (
          <>
            <a className="button primary" href="/v1/login/oidc">
              Sign in with <Text value={methods.oidc.name} />
            </a>
            <p className="faint small-print">or with a token:</p>
          </>
        )}
        <label className="field">
          <span>Token</span>
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
        <button
          type="submit"
          className={methods?.oidc === undefined ? "primary" : undefined}
          disabled={isBusy}
        >
          {isBusy ? "Signing in…" : "Sign in"}
        </button>
        <p id="token-help" className="faint small-print">
          <code>countersign operators add NAME --role viewer</code> prints a token of your own.{" "}
          <code>countersign serve</code> and <code>countersign demo</code> print the admin token at
          their first start. The browser keeps a session cookie, not the token.
        </p>
      </form>
    </main>
  );
}

function refusalOf({ status, message }: ControlProblem): string {
  if (status === 401) return "The gateway rejects this token. Was it rotated?";
  if (status === 429) return "Too many wrong tokens were tried. Wait a minute, then sign in again.";
  return message;
}
