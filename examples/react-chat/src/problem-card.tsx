import type { Problem } from "@countersign/client";
import type { ReactNode } from "react";

/** A failure in words for the person; the gateway's details for developers are below it. */
export function ProblemCard({
  problem,
  onRetry,
}: {
  problem: Problem;
  onRetry: () => void;
}): ReactNode {
  const { code, message, status, pointer, remedy, receipt } = problem;
  const told = [
    ["code", status === undefined ? code : `${code} (${status})`],
    ["where", pointer],
    ["what helps", remedy],
    ["receipt", receipt],
  ] as const;
  return (
    <div className="card problem" role="alert">
      <p>{message}</p>
      <details>
        <summary>For developers</summary>
        <dl>
          {told.map(([name, value]) =>
            value === undefined ? null : (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ),
          )}
        </dl>
      </details>
      <button onClick={onRetry}>Try again</button>
    </div>
  );
}
