import { useState } from "react";
import type { ReactNode } from "react";
import type { Capabilities, Capability } from "../api/responses.js";
import { ControlProblem, fetchJson } from "../api/request.js";
import { hrefOf } from "../route/route.js";
import { announce } from "../components/announce.js";
import { StateBadge } from "../components/badge.js";
import { Confirm } from "../components/dialog.js";
import { ageOf } from "../components/format-time.js";
import { useMissingRole } from "../components/needs-role.js";
import { Scroll } from "../components/scroll.js";
import { Failure, Loading } from "../components/states.js";
import { Text } from "../components/text.js";
import { Time } from "../components/time.js";
import type { Resource } from "../api/use-resource.js";

/** The tokens that this gateway issued: for whom, what they open, what is left, and until when. */
export function CapabilityList({
  capabilities: { data, problem, reload },
}: {
  readonly capabilities: Resource<Capabilities>;
}): ReactNode {
  const missing = useMissingRole("operator");
  const [revoking, setRevoking] = useState<Capability>();
  return (
    <section className="card" aria-labelledby="issued">
      <h2 id="issued">Issued tokens</h2>
      {data === undefined ? (
        problem === undefined ? (
          <Loading what="tokens" />
        ) : (
          <Failure problem={problem} onRetry={reload} />
        )
      ) : data.items.length === 0 ? (
        <p className="faint">This gateway has issued no token that is still valid.</p>
      ) : (
        <Scroll title="Tokens, scroll sideways">
          <table>
            <thead>
              <tr>
                <th scope="col">State</th>
                <th scope="col">For</th>
                <th scope="col">Scopes</th>
                <th scope="col" className="number">
                  Remaining
                </th>
                <th scope="col">Expires</th>
                <th scope="col">Issued by</th>
                <th scope="col">
                  <span className="unseen">Revoke</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {data.items.map((token) => (
                <Row
                  key={token.id}
                  token={token}
                  missing={missing}
                  onRevoke={() => setRevoking(token)}
                />
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
      {revoking === undefined ? null : (
        <Revoke
          token={revoking}
          onDone={() => {
            setRevoking(undefined);
            reload();
          }}
        />
      )}
    </section>
  );
}

function stateOf({ revoked, expires_at: end }: Capability): string {
  if (revoked) return "revoked";
  return end * 1000 <= Date.now() ? "expired" : "valid";
}

function Row({
  token,
  missing,
  onRevoke,
}: {
  readonly token: Capability;
  readonly missing: string | undefined;
  readonly onRevoke: () => void;
}): ReactNode {
  const state = stateOf(token);
  return (
    <tr>
      <td>
        <StateBadge name={state} />
      </td>
      <td>
        <Text value={token.principal ?? "any principal"} isWrapped />
        <br />
        <span className="faint small-print">
          agent <Text value={token.agent} isWrapped />, session{" "}
          <Text value={token.session ?? "any"} isWrapped />
        </span>
      </td>
      <td>
        <ul className="settings">
          {token.scopes.map((scope) => (
            <li key={scope}>
              <code>
                <Text value={scope} isWrapped />
              </code>
            </li>
          ))}
        </ul>
      </td>
      <td className="number">
        {token.max_events === undefined
          ? "no limit"
          : `${(token.remaining ?? token.max_events).toLocaleString()} of ${token.max_events.toLocaleString()}`}
      </td>
      <td>
        <Time at={token.expires_at * 1000} isFull isShort />
        <br />
        <span className="faint small-print">
          {state === "valid" ? `in ${ageOf(token.expires_at * 1000 - Date.now())}` : ""}
        </span>
      </td>
      <td>
        <Text value={token.operator} isWrapped />
        <br />
        <a className="small-print" href={hrefOf(["receipts"], { capability_id: token.id })}>
          receipts
        </a>
      </td>
      <td>
        {state === "valid" ? (
          <button
            type="button"
            className="small danger"
            disabled={missing !== undefined}
            title={missing}
            onClick={onRevoke}
          >
            Revoke
          </button>
        ) : null}
      </td>
    </tr>
  );
}

function Revoke({
  token,
  onDone,
}: {
  readonly token: Capability;
  readonly onDone: () => void;
}): ReactNode {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ControlProblem>();
  const revoke = async (): Promise<void> => {
    setBusy(true);
    try {
      await fetchJson("/v1/capabilities/revoke", { method: "POST", body: { id: token.id } });
      announce("The token was revoked");
      onDone();
    } catch (error) {
      if (error instanceof ControlProblem) setProblem(error);
      setBusy(false);
    }
  };
  return (
    <Confirm
      title="Revoke this token?"
      action="Revoke the token"
      isBusy={isBusy}
      onYes={revoke}
      onNo={onDone}
    >
      <p>
        The token of{" "}
        <strong>
          <Text value={token.principal ?? "any principal"} isWrapped />
        </strong>{" "}
        for the agent{" "}
        <strong>
          <Text value={token.agent} isWrapped />
        </strong>{" "}
        is invalid from the next event of every open stream.
      </p>
      {problem === undefined ? null : <Failure problem={problem} />}
    </Confirm>
  );
}
