import type { ReactNode } from "react";

/** Receipt. */
export function ReceiptPage({ place }: { readonly place: string }): ReactNode {
  return <h1 tabIndex={-1}>{place}</h1>;
}
