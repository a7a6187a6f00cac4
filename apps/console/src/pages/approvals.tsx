import type { ReactNode } from "react";
import { Empty } from "../components/states.js";

/** Questions that wait for an operator. */
export function ApprovalsPage(): ReactNode {
  return (
    <>
      <h1 tabIndex={-1}>Approvals</h1>
      <Empty title="No approvals wait">
        An approval for an operator appears here. People approve in their chat; the receipts of
        their answers are in the <a href="#/receipts?q=approval">log</a>.
      </Empty>
    </>
  );
}
