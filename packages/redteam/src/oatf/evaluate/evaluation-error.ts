/** Why an evaluation has no answer. */
export type EvaluationErrorKind =
  | "path_resolution"
  | "regex_timeout"
  | "cel_error"
  | "type_error"
  | "semantic_error"
  | "unsupported_method";

/** An evaluation without an answer; the message never quotes the traffic that was examined. */
export type EvaluationError = { readonly kind: EvaluationErrorKind; readonly message: string };

/** Carries an {@link EvaluationError} out of nested code; never leaves the entry points. */
export class EvaluationFailure extends Error {
  readonly kind: EvaluationErrorKind;

  constructor(kind: EvaluationErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }

  /** The plain value that results carry. */
  toError(): EvaluationError {
    return { kind: this.kind, message: this.message };
  }
}
