import { CountersignError } from "@countersign/core";
import type { RunAgentInput } from "@countersign/wire";
import type { Session } from "../sessions/session.js";
import "../inbound/errors.js";

/**
 * Refuses the id of a run that is still open in the session, on whichever thread: a stop could not tell
 * the two apart. Ids that were used before are the ledger's to know.
 */
export function assertNewRun(session: Session, { runId }: RunAgentInput): void {
  if (session.runs.get(runId)?.status === "running") {
    throw new CountersignError("ERR_RUN_ID_REUSED", "a run of this id is open in the session", {});
  }
}
