import type { EvaluationError } from "./evaluation-error.js";

/** The evidence that satisfied an indicator. */
export type MatchDetail = {
  /** The place in the message, `messages[2].content`. */
  readonly path?: string;
  /** The text there; evidence shows it masked. */
  readonly text?: string;
  /** The score of a semantic indicator. */
  readonly score?: number;
};

/** The answer of one detection on one message. */
export type Outcome =
  | { readonly result: "matched"; readonly detail: MatchDetail }
  /** `absent`: the target leads nowhere in this message. */
  | { readonly result: "not_matched"; readonly absent?: true }
  | { readonly result: "error"; readonly error: EvaluationError }
  | { readonly result: "skipped"; readonly reason: string };

/** The answer when what was looked at does not match. */
export const NOT_MATCHED: Outcome = Object.freeze({ result: "not_matched" });
/** The answer when there was nothing to look at. */
export const ABSENT: Outcome = Object.freeze({ result: "not_matched", absent: true });
