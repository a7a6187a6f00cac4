import { CountersignError } from "@countersign/core";
import type { RunAgentInput } from "@countersign/wire";
import type { Session } from "../sessions/session.js";
import "../base/errors.js";

/**
 * Rejects the id of a run that is still open in the session, on any thread: a stop could not tell
 * the two apart. The ledger knows ids that were used before.
 */
export function assertNewRun(session: Session, { runId }: RunAgentInput): void {
  if (session.runs.get(runId)?.status === "running") {
    throw new CountersignError("ERR_RUN_ID_REUSED", "a run of this id is open in the session", {});
  }
}
