import type { ReactNode } from "react";

/** Runs. */
export function RunsPage({ query }: { readonly query: URLSearchParams }): ReactNode {
  return <h1 tabIndex={-1}>{query.get("status") ?? "Runs"}</h1>;
}
