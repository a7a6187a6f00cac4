import { CountersignError } from "@countersign/core";
import type { RunAgentInput } from "@countersign/wire";
import type { Session } from "../sessions/session.js";
import "./errors.js";

/** Refuses a run id that was used before, and a second run on a thread whose first is still open. */
export function assertNewRun(session: Session, input: RunAgentInput): void {
  if (session.runs.has(input.runId)) {
    throw new CountersignError("ERR_RUN_ID_REUSED", "this run id was used before", {});
  }
  for (const run of session.runs.values()) {
    if (run.threadId === input.threadId && run.status === "running") {
      throw new CountersignError("ERR_RUN_ACTIVE", "the thread has a run open", {});
    }
  }
}
