import { useState } from "react";
import type { ReactNode } from "react";
import type { Policy, PolicyVersion } from "../api/responses.js";
import { useResource } from "../api/use-resource.js";
import { Reason } from "../components/needs-role.js";
import { Scroll } from "../components/scroll.js";
import { Failure, Loading } from "../components/states.js";
import { Text } from "../components/text.js";
import { Time } from "../components/time.js";
import { ChangePolicy, useReadOnly } from "./apply-policy.js";

/** Policies that were active: who applied each and when, and the way back. */
export function PolicyHistory({
  policy,
  onChange,
  onInspect,
}: {
  readonly policy: Policy;
  readonly onChange: () => void;
  /** Puts the text of a version into the editor. */
  readonly onInspect: (text: string) => void;
}): ReactNode {
  const { data, problem, reload } = useResource<{ items: readonly PolicyVersion[] }>(
    "/v1/policy/history",
    10_000,
  );
  const [wanted, setWanted] = useState<PolicyVersion>();
  const readOnly = useReadOnly(policy);
  return (
    <section className="card" aria-labelledby="history">
      <div className="head">
        <h2 id="history">History</h2>
        <Reason text={readOnly} />
      </div>
      {data === undefined ? (
        problem === undefined ? (
          <Loading what="the history" />
        ) : (
          <Failure problem={problem} onRetry={reload} />
        )
      ) : data.items.length === 0 ? (
        <p className="faint">No change of the policy is recorded yet.</p>
      ) : (
        <Scroll title="History, scroll sideways">
          <table>
            <thead>
              <tr>
                <th scope="col">Applied</th>
                <th scope="col">By</th>
                <th scope="col">From</th>
                <th scope="col">Policy</th>
                <th scope="col">Comment</th>
                <th scope="col">
                  <span className="unseen">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {data.items.map((version, at) => (
                <tr key={`${version.hash} ${version.applied_at} ${at}`}>
                  <td>
                    <Time at={version.applied_at} isFull isShort />
                  </td>
                  <td className="name">
                    <Text value={version.operator} />
                  </td>
                  <td>{version.source}</td>
                  <td>
                    <code>{version.hash.slice(0, 12)}…</code>
                    {version.hash === policy.hash ? (
                      <span className="badge enforce">active</span>
                    ) : null}
                  </td>
                  <td>
                    <Text value={version.comment ?? ""} isWrapped />
                  </td>
                  <td>
                    <span className="buttons">
                      {version.text === undefined ? null : (
                        <button
                          type="button"
                          className="small"
                          onClick={() => onInspect(version.text ?? "")}
                        >
                          Open in editor
                        </button>
                      )}
                      {version.hash === policy.hash ? null : (
                        <button
                          type="button"
                          className="small danger"
                          disabled={readOnly !== undefined}
                          onClick={() => setWanted(version)}
                        >
                          Roll back
                        </button>
                      )}
                    </span>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
      {wanted === undefined ? null : (
        <ChangePolicy
          title="Roll back to this policy?"
          action="Roll back"
          path="/v1/policy/rollback"
          body={{ hash: wanted.hash, expect: policy.hash }}
          done="The policy was rolled back"
          onDone={() => {
            setWanted(undefined);
            reload();
            onChange();
          }}
        >
          <p>
            Policy <code>{wanted.hash.slice(0, 12)}…</code>, applied{" "}
            <Time at={wanted.applied_at} isFull isShort /> by{" "}
            <strong>
              <Text value={wanted.operator} isWrapped />
            </strong>
            , becomes active again. The gateway writes it to the policy file.
          </p>
        </ChangePolicy>
      )}
    </section>
  );
}
