import type { ReactNode } from "react";
import type { ControlProblem } from "../api/request.js";
import { Text } from "./text.js";

/** While an answer is awaited; as tall as what will stand there, so that nothing jumps. */
export function Loading({ what }: { readonly what: string }): ReactNode {
  return (
    <p className="state" role="status">
      <span className="pulse" aria-hidden="true" /> Asking for {what}…
    </p>
  );
}

/** There is nothing, and what would change that. */
export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ReactNode;
}): ReactNode {
  return (
    <div className="state">
      <strong>{title}</strong>
      {children === undefined ? null : <p>{children}</p>}
    </div>
  );
}

/** It did not work, why, and what helps. */
export function Failure({
  problem,
  onRetry,
}: {
  readonly problem: ControlProblem;
  readonly onRetry?: () => void;
}): ReactNode {
  return (
    <div className="state failure" role="alert">
      <strong>
        <Text value={problem.message} isWrapped />
      </strong>
      <p>
        {remedyOf(problem)} <code>{problem.code}</code>
      </p>
      {onRetry === undefined ? null : (
        <button type="button" onClick={onRetry}>
          Ask again
        </button>
      )}
    </div>
  );
}

function remedyOf({ status, code }: ControlProblem): string {
  if (status === 0) return "See that the gateway runs; this page asks again by itself.";
  if (code === "RECEIPT_UNKNOWN")
    return "The log does not reach that far yet; look at the newest receipts.";
  if (status === 404) return "It may be over, or of another gateway; look at the list.";
  if (status === 503)
    return "The receipt store or another gateway is away: look at /readyz and the gateway's log.";
  if (code === "ERR_CONTROL_FIELD") return "Change the filter or the field that is named.";
  return "The gateway's log has the cause.";
}
