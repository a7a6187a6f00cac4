import type { ReactNode } from "react";

/** Capabilities. */
export function CapabilitiesPage(): ReactNode {
  return <h1 tabIndex={-1}>Capabilities</h1>;
}
