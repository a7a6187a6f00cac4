import type { DialectNote } from "@countersign/wire/dialects";
import type { EnforceNote } from "@countersign/wire/enforce";
import type { EventContext } from "./event-context.js";

/** Hears what happens on the pipeline: metrics, the live feed and logs listen here. It decides nothing. */
export type Observer = {
  /** Something was dropped or translated. */
  notes(notes: readonly (EnforceNote | DialectNote)[]): void;
  /** A decision is on record. */
  recorded(context: EventContext): void;
  /**
   * What arrived together is on record and has been written to the person, or withheld: how many
   * events, and when the last of their bytes arrived, on the clock of `performance.now()`.
   */
  delivered?(contexts: number, arrivedAt: number): void;
  /**
   * The run failed with a code the person was told; the cause is for the operator's log, and so is what was
   * blocked, where that ended the run.
   */
  failed(code: string, cause: unknown, blocked?: EventContext): void;
};
