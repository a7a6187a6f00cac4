import type { ReactNode } from "react";
import type { ControlProblem } from "../api/request.js";
import { Text } from "./text.js";

/** A placeholder while data loads, as tall as the content, so that the layout does not shift. */
export function Loading({ what }: { readonly what: string }): ReactNode {
  return (
    <p className="state" role="status">
      <span className="pulse" aria-hidden="true" /> Loading {what}…
    </p>
  );
}

/** An empty list, and how to fill it. */
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

/** A failed request, its reason and its fix. */
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
          Retry
        </button>
      )}
    </div>
  );
}

function remedyOf({ status, code }: ControlProblem): string {
  if (status === 0) return "Check that the gateway runs; this page retries by itself.";
  if (code === "RECEIPT_UNKNOWN")
    return "The log does not reach that far yet; look at the newest receipts.";
  if (status === 404) return "It may have ended, or belong to another gateway; look at the list.";
  if (status === 503)
    return "The receipt store or another gateway is unavailable: look at /readyz and the gateway's log.";
  if (code === "ERR_CONTROL_FIELD") return "Change the filter or the field that is named.";
  return "The gateway's log has the cause.";
}
