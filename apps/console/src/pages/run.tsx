import type { ReactNode } from "react";

/** Run. */
export function RunPage({
  session,
  run,
}: {
  readonly session: string;
  readonly run: string;
}): ReactNode {
  return <h1 tabIndex={-1}>{`${session} ${run}`}</h1>;
}
