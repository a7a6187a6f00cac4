import type { DialectNote } from "@countersign/wire/dialects";
import type { EnforceNote } from "@countersign/wire/enforce";
import type { EventContext } from "./event-context.js";

/** Receives what happens in the pipeline, for metrics, the live feed and logs. It takes no part in decisions. */
export type Observer = {
  /** A stage dropped or translated something. */
  notes(notes: readonly (EnforceNote | DialectNote)[]): void;
  /** The receipt of a decision is durable. */
  recorded(context: EventContext): void;
  /**
   * Events that arrived together are recorded, and sent or withheld.
   *
   * @param contexts the number of events
   * @param arrivedAt when the last of their bytes arrived, on the clock of `performance.now()`
   */
  delivered?(contexts: number, arrivedAt: number): void;
  /** The run failed. The client received the code. The cause, and the blocked event that ended the run, are for the operator's log. */
  failed(code: string, cause: unknown, blocked?: EventContext): void;
};
