import type { ReactNode } from "react";

/** Receipts. */
export function ReceiptsPage({ query }: { readonly query: URLSearchParams }): ReactNode {
  return <h1 tabIndex={-1}>{query.get("id") ?? "Receipts"}</h1>;
}
