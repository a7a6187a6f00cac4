import type { ReactNode } from "react";

/** Policy. */
export function PolicyPage({ query }: { readonly query: URLSearchParams }): ReactNode {
  return <h1 tabIndex={-1}>{query.get("id") ?? "Policy"}</h1>;
}
